// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/memory_canaries.h"

#include <fmt/format.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#ifndef ASAN_POISON_MEMORY_REGION
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace tenon::runtime {

namespace {

/// 0xfff5 in every two bytes.
constexpr std::byte byte_at(uint64_t k) { return k % 2 == 0 ? std::byte{0xf5} : std::byte{0xff}; }

void fill(std::byte* data, uint64_t bytes) {
  for (uint64_t k = 0; k < bytes; ++k) data[k] = byte_at(k);
}

/// The first byte that differs; `bytes` where none does.
uint64_t touched(const std::byte* data, uint64_t bytes) {
  uint64_t k = 0;
  while (k < bytes && data[k] == byte_at(k)) ++k;
  return k;
}

Error wrote_outside(const std::string& step, const std::string& buffer, const std::string& where) {
  return fail(Code::internal, step, "a step wrote outside its memory")
      .expected("no write beyond " + buffer)
      .found("a write " + where)
      .advice("report this, with the model");
}

}  // namespace

void MemoryCanaries::poison(const Place& p) {
  ASAN_POISON_MEMORY_REGION(p.data - kBytes, kBytes);
  ASAN_POISON_MEMORY_REGION(p.data + p.bytes, kBytes);
}

void MemoryCanaries::unpoison(const Place& p) {
  ASAN_UNPOISON_MEMORY_REGION(p.data - kBytes, kBytes);
  ASAN_UNPOISON_MEMORY_REGION(p.data + p.bytes, kBytes);
}

void MemoryCanaries::watch(uint64_t id, std::byte* data, uint64_t bytes, std::string name) {
  forget(id, false);
  fill(data - kBytes, kBytes);
  fill(data, bytes);
  fill(data + bytes, kBytes);
  const auto [at, made] = places_.emplace(id, Place{data, bytes, std::move(name)});
  poison(at->second);
}

void MemoryCanaries::forget(uint64_t id, bool overwrite) {
  const auto found = places_.find(id);
  if (found == places_.end()) return;
  unpoison(found->second);
  if (overwrite) fill(found->second.data, found->second.bytes);
  places_.erase(found);
}

void MemoryCanaries::clear() {
  for (const auto& [id, place] : places_) unpoison(place);
  places_.clear();
}

Result<void> MemoryCanaries::check(const std::string& step) const {
  for (const auto& [id, p] : places_) {
    unpoison(p);
    const uint64_t before = touched(p.data - kBytes, kBytes), after = touched(p.data + p.bytes, kBytes);
    poison(p);
    if (before < kBytes) return wrote_outside(step, p.name, fmt::format("{} bytes before it", kBytes - before));
    if (after < kBytes) return wrote_outside(step, p.name, fmt::format("{} bytes after its end", after));
  }
  return {};
}

}  // namespace tenon::runtime
