// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A plan whose groups are made anew, one after the other, each with its tactic.
struct Preparation {
  Plan plan;  ///< its arrays, and the groups so far
  std::vector<Tactic> tactics;
  const Target& target;

  void add(Group group, Tactic tactic);
  /// What fills operands of the group that comes next: groups of their own with the default tactic, prepared too.
  void add_copies(std::vector<Nest> copies, ir::NodeId node);
};

/// A depthwise convolution reads transposed weights; any other sum of products that may leave its arrays, copies with the padding around
/// them; a loop, constants along its lanes. An epilogue that does not run inside becomes a group of its own.
void prepare_loops(const Group& group, const LoopTactic& tactic, Preparation& to);
/// A contraction reads its rows where a load finds them, padded, and its lanes in panels of the tactic's tile. One that the register tiles
/// cannot walk becomes loops.
void prepare_contract(const Group& group, const ContractTactic& tactic, Preparation& to);
/// Attention reads its values side by side in whole registers, positions in place of constant masks; parts of keys get what they leave.
void prepare_attention(const Group& group, const AttentionTactic& tactic, Preparation& to);

}  // namespace tenon::codegen
