// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// An operand that was rounded (round_rows), which other products of the same input read too.
struct RoundedOperand {
  Nest elements;  ///< the first nest that reads it
  int run;        ///< of RoundedRows; 0: of bf16
  RoundedRows rows;
};

/// The plan that prepare_operands builds, group by group, with a tactic for each.
struct Preparation {
  Plan plan;  ///< all arrays, and the groups added so far
  std::vector<Tactic> tactics;
  const Target& target;
  std::vector<RoundedOperand> rounded = {};

  void add(Group group, Tactic tactic);
  /// Adds nests that fill operands of the next group, as groups of their own with the default tactic, and prepares these too.
  void add_copies(std::vector<Nest> copies, ir::NodeId node);
};

/// Prepares a group of loops: transposes weights of a depthwise convolution, copies operands of other padded sums of products with their
/// padding, and transposes constants so that they are contiguous along the lanes. An epilogue that its kernel cannot run becomes a group of
/// its own.
void prepare_loops(const Group& group, const LoopTactic& tactic, Preparation& to);
/// A contraction reads its rows where a load finds them, padded, and its lanes in panels of the tactic's tile. One that the register tiles
/// cannot walk becomes loops.
void prepare_contract(const Group& group, const ContractTactic& tactic, Preparation& to);
/// Prepares attention: copies values so that they are contiguous and padded to whole registers, replaces constant masks by comparisons of
/// positions, and adds arrays for results of parts of the keys.
void prepare_attention(const Group& group, const AttentionTactic& tactic, Preparation& to);

}  // namespace tenon::codegen
