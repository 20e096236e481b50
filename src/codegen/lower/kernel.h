// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/cost/work.h"
#include "codegen/llvm/emit.h"
#include "codegen/plan/plan.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

/// A group lowered for one target: code, and how the program must call it.
struct Kernel {
  TileKernel tile;
  std::vector<ArrayId> arguments;  ///< what each argument buffer is
  DimList sizes;                   ///< what each i64 size is
  Dim tasks = 1;                   ///< the parallel range; results do not depend on how it is cut
  Dim units = 0;                   ///< of the group's region: its tasks are so many equal runs of units (or of parts); 0: they are not
  Dim grain = 1;                   ///< fewest tasks that are worth a thread's while
  Dim flops = 0, bytes = 0;
  std::vector<ir::NodeId> nodes;
  std::string tactic;  ///< as text
  Work work;           ///< what its time follows from
};

/// Lowers a group of any kind to the kernels that run it, in order; none where it is a step without a kernel. Group and tactic are as
/// prepare_operands leaves them: kernels read what the plan has, and lowering adds nothing to it.
Result<std::vector<Kernel>> lower_group(const Group& group, const Tactic& tactic, const Plan& plan, const Target& target);
/// Lowers a group of kind nests; a depthwise convolution as a window sum where it is one.
Result<Kernel> lower_loops(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// The same but for window sums. Errors: not_supported; bad_usage for lanes that it cannot have.
Result<Kernel> lower_nests(const Group& group, const LoopTactic& tactic, const Plan& plan, const Target& target);
/// Lowers a contraction with its epilogue: register tiles of rows over the lanes operand in panels.
Result<Kernel> lower_contract(const Group& group, const ContractTactic& tactic, const Plan& plan, const Target& target);
/// Lowers fused attention: one task is a tile of queries of one head. A second kernel joins the parts, where keys are dealt out.
Result<std::vector<Kernel>> lower_attention(const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target);

}  // namespace tenon::codegen
