// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>

#include "ir/graph.h"

namespace tenon::rewrite {

/// Where a run is just now, for somebody who watches from another process: no pointers, fixed size, may lie in shared memory.
struct Probe {
  static constexpr uint32_t kNone = ~uint32_t{0};
  std::atomic<uint64_t> steps{0};     ///< moves with every attempt
  std::atomic<uint32_t> rule{kNone};  ///< index in the set of what was tried last
  std::atomic<bool> checking{false};  ///< Options::check has the word, not the rule
  std::array<char, 240> node{};       ///< "node 'name' (Op)", ended by 0, cut where it is longer

  /// To be called before a rule looks at a node, and before it rewrites.
  void enter(uint32_t index, const ir::Graph& graph, ir::NodeId at);
};

}  // namespace tenon::rewrite
