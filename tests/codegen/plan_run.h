// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/lower/kernel.h"
#include "codegen/plan/plan_options.h"
#include "llvm/tile_run.h"

namespace tenon::codegen {

/// A graph that was planned and lowered, and runs without a program: one buffer an array, one group after the other.
struct PlannedGraph {
  const ir::Graph* graph = nullptr;
  Plan plan;
  std::vector<std::vector<Kernel>> kernels_by_group;
  Target target;
};

using ChooseTactic = std::function<Tactic(const Group& group, const Plan& plan, const Target& target)>;
/// default_tactic, whatever the plan is.
Tactic usual_tactic(const Group& group, const Plan& plan, const Target& target);

/// Errors: those of planning and of lowering, with the plan's text as what was found but of bad_usage; those of
/// codegen::verify(TileKernel).
Result<PlannedGraph> planned_graph(const ir::Graph& graph, const PlanOptions& options, const Target& target,
                                   const ChooseTactic& choose = usual_tactic);

/// The kernels of one group of a plan and of what prepare_operands makes for it, in order.
Result<std::vector<Kernel>> prepared_kernels(const Group& group, const Tactic& tactic, Plan plan, const Target& target);

/// A constant of random numbers, f32, as text before a graph's first use of it.
std::string weights(std::string_view name, const Sizes& shape);

/// Neighbouring kernels that run part by part.
struct RegionRun {
  size_t kernels = 0;
  int64_t parts = 1;
};
/// Those of a run, in order.
std::vector<RegionRun> regions_of(const PlannedGraph& planned, std::span<const Tensor> inputs);

/// Runs every kernel in the tile interpreter, its tasks in two parts, the later one first, and regions part by part likewise; buffers are
/// as long as their arrays, and hold NaN before they are written. native: machine code instead. inputs: one a graph input; their shapes
/// give the symbols. Errors: index_out_of_range for what leaves its buffer.
Result<std::vector<Tensor>> run(const PlannedGraph& planned, std::span<const Tensor> inputs, bool native = false);

}  // namespace tenon::codegen
