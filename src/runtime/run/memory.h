// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/result.h"
#include "base/shared_memory.h"
#include "runtime/device.h"

namespace tenon::runtime {

/// Memory that only grows; 4 KiB aligned, zeroed when allocated. It is anonymous memory, memory of a RunMemory, or, where it is shared,
/// SharedMemory. Anonymous memory of at least a huge page is aligned to huge pages and uses them where the system has some, for fewer page
/// faults in the first run and fewer TLB misses, unless it fills slowly.
class Block {
 public:
  static constexpr uint64_t kHugePage = 2 << 20;
  Block() = default;
  /// From the next reserve() on, memory comes from `memory`, which outlives this; null: from the host.
  void use(RunMemory* memory) { memory_ = memory; }
  /// From the next reserve() on, memory is SharedMemory.
  void share() { is_shared_ = true; }
  /// From the next reserve() on, anonymous memory has small pages: a cache of keys and values has room for a whole context, in parts for
  /// each head, and a huge page that a first row touches is cleared as a whole (SmolLM2-135M: 360 MB, and half of the time of 16 tokens).
  void fill_slowly() { fills_slowly_ = true; }
  /// Whether this process was forked after the memory was allocated as shared: parent and child would write to the same memory.
  bool is_of_parent_process() const { return is_shared_ && data_ && owner_ != getpid(); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { release(); }
  /// At least that many bytes. Contents are lost where it grows. Errors: out_of_memory.
  Result<std::byte*> reserve(uint64_t bytes) {
    if (bytes <= size_ && !is_of_parent_process()) return data_;
    release();
    const uint64_t size = (bytes + 4095) / 4096 * 4096;
    if (memory_) return take(size);
    if (is_shared_ && size > 0) file_ = memfd_create("tenon-values", MFD_CLOEXEC);
    const bool has_room = file_ >= 0 && ftruncate(file_, static_cast<off_t>(size)) == 0;
    void* memory = MAP_FAILED;
    if (file_ < 0) memory = anonymous(size);
    else if (has_room) memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED)
      return fail(Code::out_of_memory, "run", "no memory for intermediate values")
          .expected(fmt::format("{} bytes", bytes))
          .found(std::strerror(errno))
          .advice("give smaller inputs, or use fewer threads");
    data_ = static_cast<std::byte*>(memory);
    size_ = size;
    owner_ = getpid();
    if (file_ >= 0) sharing_.emplace(data_, size, file_, 0);
    return data_;
  }
  std::byte* data() const { return data_; }

 private:
  /// MAP_FAILED where there is none.
  void* anonymous(uint64_t size) const {
    const bool huge = size >= kHugePage && !fills_slowly_;
    const uint64_t reserved = size + (huge ? kHugePage : 0);
    void* const memory = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED && fills_slowly_) madvise(memory, size, MADV_NOHUGEPAGE);
    if (memory == MAP_FAILED || !huge) return memory;
    auto* const first = static_cast<std::byte*>(memory);
    const uint64_t before = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage, after = kHugePage - before;
    if (before > 0) munmap(first, before);
    if (after > 0) munmap(first + before + size, after);
    madvise(first + before, size, MADV_HUGEPAGE);  // without huge pages the system uses small ones
    return first + before;
  }

  Result<std::byte*> take(uint64_t size) {
    if (size > 0) data_ = TRY(memory_->allocate(size));
    size_ = size;
    return data_;
  }

  void release() {
    sharing_.reset();
    if (data_ && memory_) memory_->free(data_, size_);
    else if (data_) munmap(data_, size_);
    if (file_ >= 0) close(file_);
    data_ = nullptr;
    size_ = 0;
    file_ = -1;
  }
  RunMemory* memory_ = nullptr;
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
  bool is_shared_ = false, fills_slowly_ = false;
  int file_ = -1, owner_ = 0;
  std::optional<SharedMemory> sharing_;
};

}  // namespace tenon::runtime
