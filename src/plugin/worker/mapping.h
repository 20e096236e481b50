// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.h"

namespace tenon::plugin::worker {

/// A part of a file in memory, shared with whoever maps it too.
class Mapping {
 public:
  Mapping() = default;
  /// offset, bytes: whole pages. Errors: out_of_memory.
  static Result<Mapping> of(int file, uint64_t offset, uint64_t bytes, bool writable = true);
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();
  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  /// Whoever touches that page ends. offset: within the mapping.
  void guard_page(uint64_t offset) const;

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

/// A file in memory alone, and who has which part of it. What nobody touched takes no memory. Safe from several threads.
class SharedFile {
 public:
  /// Errors: out_of_memory.
  static Result<std::shared_ptr<SharedFile>> make(uint64_t first);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  int descriptor() const { return descriptor_; }

  /// Whole pages of the file, mapped; free again, with the memory, when it dies.
  class Part {
   public:
    Part() = default;
    Part(Part&&) noexcept = default;
    Part& operator=(Part&& other) noexcept;
    ~Part();
    std::byte* data() const { return mapping_.data(); }
    uint64_t offset() const { return offset_; }
    uint64_t bytes() const { return mapping_.bytes(); }

   private:
    friend SharedFile;
    std::shared_ptr<SharedFile> file_;
    Mapping mapping_;
    uint64_t offset_ = 0;
  };
  /// Errors: out_of_memory.
  static Result<Part> part(const std::shared_ptr<SharedFile>& file, uint64_t bytes);

 private:
  SharedFile(int descriptor, uint64_t first);
  void give_back(uint64_t offset, uint64_t bytes);

  int descriptor_;
  int owner_;  ///< the process that made it: a forked copy of it gives nothing back
  std::mutex lock_;
  std::map<uint64_t, uint64_t> free_;  ///< bytes by offset
};

}  // namespace tenon::plugin::worker
