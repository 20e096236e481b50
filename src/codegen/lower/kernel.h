// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/cost/work.h"
#include "codegen/llvm/emit.h"
#include "codegen/plan/plan.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

/// A kernel that was lowered for one target, and how the program must call it.
struct Kernel {
  TileKernel tile;
  std::vector<ArrayId> arguments;  ///< array of each argument buffer
  DimList sizes;                   ///< value of each i64 size that it takes
  Dim tasks = 1;                   ///< number of tasks; results do not depend on how they are split among threads
  Dim units = 0;  ///< in a region: its tasks are so many equal ranges, one for each unit (or part); 0: tasks are not numbered by units
  Dim grain = 1;  ///< least tasks that are worth a thread
  Dim flops = 0, bytes = 0;       ///< of a call: arithmetic operations; bytes of its operands and results
  std::vector<ir::NodeId> nodes;  ///< that it computes
  std::string tactic;             ///< as text, see text_of(Tactic)
  Work work;                      ///< for predictions of its time
};

/// Lowers a group of any kind to the kernels that run it, in order; none for a step without a kernel. Group and tactic are those that
/// prepare_operands returns; lowering adds nothing to the plan.
Result<std::vector<Kernel>> lower_group(const Group& group, const Tactic& tactic, const Plan& plan, const Target& target);
/// Lowers a group of kind nests; a depthwise convolution becomes a window sum.
Result<Kernel> lower_loops(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// Lowers a group of kind nests, but not as a window sum. Errors: not_supported; bad_usage for LoopTactic::lanes that cannot be vectorised.
Result<Kernel> lower_nests(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// Lowers a contraction with its epilogue: register tiles of rows over the lanes operand in panels.
Result<Kernel> lower_contract(const Group& group, const ContractTactic& tactic, const Plan& plan, const Target& target);
/// Lowers fused attention: one task is a tile of queries of one head. Where keys are split among tasks, a second kernel adds up their
/// results. In plans that sum in one order, runs with few queries take two other kernels (FewQueries).
Result<std::vector<Kernel>> lower_attention(const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target);

}  // namespace tenon::codegen
