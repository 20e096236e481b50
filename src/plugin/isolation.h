// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>

namespace tenon::plugin {

/// Plugins of an engine run in separate processes, one per library. These are the limits of such a process.
struct Isolation {
  std::chrono::milliseconds call_timeout{300'000};  ///< of one call; a call that takes longer ends the process
  uint64_t memory = 0;  ///< bytes that the process may use in addition to those in use after its start; 0: no limit
  friend auto operator<=>(const Isolation&, const Isolation&) = default;
};

}  // namespace tenon::plugin
