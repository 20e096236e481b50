// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/ids.h"

namespace tenon::rewrite {

/// Chains of rewrites, each of which matched a node that the one before it inserted: their lengths, and their rules.
class History {
 public:
  /// Records that `rule` replaced the nodes `matched` by `made`. Returns the length of the longest chain that ends with this rewrite. Cost:
  /// the number of nodes.
  int record(uint32_t rule, std::span<const ir::NodeId> matched, std::span<const ir::NodeId> made);
  /// From now on no chain continues from these nodes.
  void forget(std::span<const ir::NodeId> nodes);
  /// The rules of the chain that ends with the last rewrite, oldest first: one period where they repeat ({a, b} where a and b alternate,
  /// {a} where a follows itself), else the last few.
  std::vector<uint32_t> cycle() const;

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Step {
    uint32_t rule;
    uint32_t before;  ///< the step before it in the chain; kNone: none
    int depth;        ///< length of the chain up to here
  };
  std::vector<Step> steps_;
  std::vector<uint32_t> step_of_;  ///< by slot of a node: the step that inserted it, or kNone
};

}  // namespace tenon::rewrite
