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

/// A mapped part of a file. Other processes that map it share the memory.
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
  /// Protects that page: an access to it ends the process. offset: within the mapping.
  void guard_page(uint64_t offset) const;

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

/// An anonymous file (memfd), and which parts of it are in use. Pages that were never accessed take no memory. Safe from several threads.
class SharedFile {
 public:
  /// first: bytes at its begin that parts do not use. Errors: out_of_memory.
  static Result<std::shared_ptr<SharedFile>> make(uint64_t first);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  int descriptor() const { return descriptor_; }

  /// Mapped pages of the file. The destructor frees them for other parts, with their memory.
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
  /// Allocates a part of at least so many bytes. Errors: out_of_memory.
  static Result<Part> part(const std::shared_ptr<SharedFile>& file, uint64_t bytes);

 private:
  SharedFile(int descriptor, uint64_t first);
  /// Frees that range of the file and its memory.
  void give_back(uint64_t offset, uint64_t bytes);

  int descriptor_;
  int owner_;  ///< the process that made the file; a forked copy of this object frees nothing
  std::mutex lock_;
  std::map<uint64_t, uint64_t> free_;  ///< bytes of each free range, by its offset
};

}  // namespace tenon::plugin::worker
