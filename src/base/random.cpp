// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <atomic>
#include <cmath>
#include <random>

namespace tenon::inline base {

namespace {

constexpr uint64_t kLow48 = (uint64_t{1} << 48) - 1;

double unit_of(uint32_t low, uint32_t high) { return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53; }

uint64_t word64(const RandomBlock& block) { return uint64_t{block[1]} << 32 | block[0]; }

}  // namespace

RandomBlock philox(uint64_t key, const RandomBlock& counter) {
  constexpr uint64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  RandomBlock c = counter;
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += kWeyl0, k1 += kWeyl1) {
    const uint64_t a = kMultiply0 * c[0], b = kMultiply1 * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1,
         static_cast<uint32_t>(a)};
  }
  return c;
}

RandomScope RandomScope::in_iteration(uint64_t iteration) const {
  constexpr uint32_t kPathStream = 0xffffffff;  // of no node
  const uint64_t outer = step == 0 ? path : word64(RandomScope{path, 0, step}.block(kPathStream, 0));
  return {seed, outer, iteration + 1};
}

RandomBlock RandomScope::block(uint32_t stream, uint64_t element) const {
  const auto high = static_cast<uint32_t>((element & kLow48) >> 32 | (step & kLow48) >> 32 << 16);
  return philox(seed ^ path, {static_cast<uint32_t>(element), high, static_cast<uint32_t>(step), stream});
}

double uniform_of(const RandomBlock& block) { return unit_of(block[0], block[1]); }

double normal_of(const RandomBlock& block) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_of(block[0], block[1])));
  return radius * std::cos(2 * M_PI * unit_of(block[2], block[3]));
}

uint64_t fresh_seed() {
  static std::atomic<uint64_t> next = [] {
    std::random_device device;
    return uint64_t{device()} << 32 | device();
  }();
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return next.fetch_add(kOdd, std::memory_order_relaxed);
}

}  // namespace tenon::inline base
