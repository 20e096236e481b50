// SPDX-License-Identifier: Apache-2.0
#include "../second_device.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "runtime/kernel_blob/program_segment.h"

namespace tenon::tests {

namespace {

constexpr uint32_t kAvx2 = 1;  // the tag of codegen's target x86_avx2

uint64_t pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

Error failed(const char* what) { return fail(Code::device_failed, "second", what).found(std::strerror(errno)); }

}  // namespace

SecondArena::~SecondArena() {
  for (const auto& [memory, bytes] : pieces_) munmap(memory, bytes);
}

Result<std::byte*> SecondArena::allocate(uint64_t bytes) {
  const int access = is_open_ ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* const memory = mmap(nullptr, pages(bytes), access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return fail(Code::out_of_memory, "second", "its arena has no memory").expected(std::to_string(bytes) + " bytes");
  auto* const out = static_cast<std::byte*>(memory);
  pieces_.emplace(out, pages(bytes));
  return out;
}

void SecondArena::free(std::byte* memory, uint64_t /*bytes*/) {
  const auto found = pieces_.find(memory);
  TENON_ASSERT(found != pieces_.end());
  munmap(memory, found->second);
  pieces_.erase(found);
}

Result<void> SecondArena::protect(int access) {
  for (const auto& [memory, bytes] : pieces_)
    if (mprotect(memory, bytes, access) != 0) return failed("its arena cannot be protected");
  return {};
}

Result<void> SecondArena::begin_run() {
  TRY(protect(PROT_READ | PROT_WRITE));
  is_open_ = true;
  ++runs_;
  return {};
}

void SecondArena::end_run() {
  is_open_ = false;
  TENON_ASSERT(protect(PROT_NONE).has_value());
}

Result<std::unique_ptr<runtime::Segment>> SecondDevice::make(const runtime::BlobView& blob) const {
  const auto arena = std::make_shared<SecondArena>();
  arenas_.push_back(arena);
  return runtime::make_program_segment(blob, kAvx2, arena);
}

}  // namespace tenon::tests
