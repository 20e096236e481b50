// SPDX-License-Identifier: Apache-2.0
#include "heap.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace tenon::bench {

static Heap the_heap;
Heap& heap() { return the_heap; }

}  // namespace tenon::bench

namespace {

using tenon::bench::the_heap;

int64_t bytes_at(void* p) { return static_cast<int64_t>(malloc_usable_size(p)) + 8; }  // and malloc's own word before the block

void* counted(void* p) {
  if (!p) throw std::bad_alloc();
  if (!the_heap.counting) return p;
  ++the_heap.calls;
  the_heap.live += bytes_at(p);
  the_heap.peak = std::max(the_heap.peak, the_heap.live);
  return p;
}

void release(void* p) {
  if (p && the_heap.counting) the_heap.live -= bytes_at(p);
  std::free(p);
}

}  // namespace

void* operator new(size_t size) { return counted(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t align) {
  const auto a = static_cast<size_t>(align);
  return counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete(void* p, size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { release(p); }
