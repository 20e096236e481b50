// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <fmt/format.h>

// Inlined, so that nothing links a library for it.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::inline base {
namespace {

Hash128 of(XXH128_hash_t h) { return {h.low64, h.high64}; }

}  // namespace

std::string Hash128::text() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash128(std::span<const std::byte> bytes) { return of(XXH3_128bits(bytes.data(), bytes.size())); }
Hash128 hash128(std::string_view text) { return hash128(std::as_bytes(std::span(text))); }

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;
void Hasher::add(std::span<const std::byte> bytes) { XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size()); }
Hash128 Hasher::digest() const { return of(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace tenon::inline base
