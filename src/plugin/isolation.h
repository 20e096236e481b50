// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>

namespace tenon::plugin {

/// That what engines call of plugins runs in processes of their own, one a library, and what it may take there.
struct Isolation {
  std::chrono::milliseconds patience{300'000};  ///< with one call; then the process is ended
  uint64_t memory = 0;                          ///< bytes that a process may take in addition to those of its start; 0: no limit
  friend auto operator<=>(const Isolation&, const Isolation&) = default;
};

}  // namespace tenon::plugin
