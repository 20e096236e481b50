// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ids.h"

namespace tenon::rewrite {

/// Which rewrite made which node out of nodes of which rewrite: the depth of such chains, and their rules.
class History {
 public:
  /// `rule` has made `made` out of `matched`. Returns the length of the chain. Cost: the nodes.
  int record(uint32_t rule, std::span<const ir::NodeId> matched, std::span<const ir::NodeId> made);
  /// The nodes count as imported from here on.
  void forget(std::span<const ir::NodeId> nodes);
  /// The rules that led to the last rewrite, shortest period first found: {a, b} where a and b alternate, {a} where a follows itself, and
  /// the last few rules where nothing repeats. Oldest first.
  std::vector<uint32_t> cycle() const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Step {
    uint32_t rule;
    uint32_t before;  ///< step; kNone: an imported node
    int depth;
  };
  std::vector<Step> steps_;
  std::vector<uint32_t> step_of_;  ///< by slot of the node
};

}  // namespace tenon::rewrite
