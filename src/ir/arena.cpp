// SPDX-License-Identifier: Apache-2.0
#include "ir/arena.h"

#include <sys/mman.h>

#include <new>

namespace tenon::ir {

static constexpr size_t kHugePage = size_t{2} << 20;

static std::align_val_t alignment_of(size_t bytes, size_t alignment) {
  return static_cast<std::align_val_t>(bytes >= kHugePage ? kHugePage : alignment);
}

void* allocate_pages(size_t bytes, size_t alignment) {
  void* memory = ::operator new(bytes, alignment_of(bytes, alignment));
  // Advice: where the system has no huge pages, all works as before. Only whole ones: a page that is touched is there.
  if (bytes >= kHugePage) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

void free_pages(void* memory, size_t bytes, size_t alignment) { ::operator delete(memory, alignment_of(bytes, alignment)); }

}  // namespace tenon::ir
