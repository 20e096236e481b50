// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "ir/graph.h"

namespace tenon::rewrite {

/// The current attempt of a run, for a parent process that monitors it: no pointers, fixed size, may be in shared memory.
struct RunProgress {
  static constexpr uint32_t kNone = ~uint32_t{0};
  std::atomic<uint64_t> steps{0};     ///< grows with every attempt
  std::atomic<uint32_t> rule{kNone};  ///< of the current attempt: index in the set
  std::atomic<bool> checking{false};  ///< Options::check is running, not the rule
  std::array<char, 240> node{};       ///< of the current attempt: "node 'name' (Op)", null-terminated, cut where it is longer

  /// Records an attempt. Called before a rule's match function, and before its rewrite function.
  void enter(uint32_t index, const ir::Graph& graph, ir::NodeId at);
};

}  // namespace tenon::rewrite
