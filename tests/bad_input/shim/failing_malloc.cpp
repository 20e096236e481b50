// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library's own (LD_PRELOAD): the allocation number FAIL_AT fails, and with FAIL_FOREVER all that follow. Says on the
// descriptor COUNT_TO how many there were. glibc's own entry points do the work, so that nothing here allocates.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<long> calls{0};

long number(const char* name) {
  const char* text = getenv(name);
  return text == nullptr ? 0 : strtol(text, nullptr, 10);
}

bool fails() {
  static const long at = number("FAIL_AT");
  static const bool forever = number("FAIL_FOREVER") != 0;
  const long call = ++calls;
  const bool failing = at > 0 && (call == at || (forever && call > at));
  if (failing) errno = ENOMEM;
  return failing;
}

__attribute__((destructor)) void report() {
  const long to = number("COUNT_TO");
  if (to > 0) dprintf(static_cast<int>(to), "%ld\n", calls.load());
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails() ? nullptr : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? nullptr : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}
}
