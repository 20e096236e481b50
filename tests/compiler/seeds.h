// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

/// Which random cases a test runs: TENON_SEED=N that one alone; else from TENON_FIRST=N on, TENON_GRAPHS=N of them, for
/// TENON_SECONDS=N.
namespace tenon::tests {

inline uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::strtoull(given, nullptr, 10) : otherwise;
}

/// Whether one case alone was asked for.
inline bool one_seed() { return number_from("TENON_SEED", 0) != 0; }

/// Calls check(seed) until one fails, `count` times unless the environment sets another number.
template <class F>
void each_seed(uint64_t count, F&& check) {
  if (one_seed()) return check(number_from("TENON_SEED", 0));
  const uint64_t seconds = number_from("TENON_SECONDS", 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds ? seconds : 3600 * 24);
  uint64_t left = number_from("TENON_GRAPHS", seconds ? UINT64_MAX : count);
  for (uint64_t seed = number_from("TENON_FIRST", 1); left > 0 && !::testing::Test::HasFailure(); ++seed, --left) {
    if (std::chrono::steady_clock::now() >= end) return;
    check(seed);
  }
}

}  // namespace tenon::tests
