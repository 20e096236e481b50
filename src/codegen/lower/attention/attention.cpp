// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/attention.h"

#include "codegen/analysis/places.h"
#include "codegen/lower/attention/attention_kernel.h"
#include "codegen/lower/attention/few_queries.h"
#include "codegen/lower/attention/few_queries_join.h"

namespace tenon::codegen {

namespace {

/// The kernel needs affine places of query, key and value, always inside; masks may be at any place.
Result<void> check_places(const Nest& nest, const Plan& plan) {
  for (size_t k = 0; k < 3; ++k)
    if (nest.accesses[k].within || !affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes))
      return fail(Code::not_supported, "", "not supported yet: attention over operands whose places are not affine");
  return {};
}

/// Pairs of a query and a key; packed sequences count as if all were equally long.
Dim pairs_of(const Nest& nest, const Group& group) {
  const Dim batch = nest.axes[kBatch].extent, keys = nest.axes[kKey].extent;
  const Dim rows = nest.axes[kKeyHead].extent * nest.axes[kSharing].extent * nest.axes[kQuery].extent;
  return group.as<AttentionGroup>().longest_sequence ? rows * floor_div(keys, max(Dim(1), batch)) : batch * rows * keys;
}

Dim flops_of(const Nest& nest, const Group& group) {
  return pairs_of(nest, group) * Dim(2) * (nest.axes[kHeadSize].extent + nest.axes[kValueSize].extent);
}

/// Sets tasks and work of the kernel to 0 where `not_used` is 1.
void zero_work_where(Dim not_used, Kernel& kernel) {
  const auto unless = [&](Dim& size) { size = select(not_used, Dim(0), size); };
  unless(kernel.tasks);
  unless(kernel.flops);
  for (ProductWork& p : kernel.work.products) unless(p.times);
  for (LoopWork& l : kernel.work.loops) {
    unless(l.points);
    unless(l.vector_loops);
  }
}

Result<Kernel> kernel_of_join(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target,
                              const KeyParts& parts) {
  Kernel kernel;
  TRY(emit_merge_of_parts(kernel, plan, target, tactic, nest, group, parts));
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic);
  const Dim along = padded_values(nest, tactic.tile, target), queries = int64_t{tactic.tile.vectors} * target.lanes();
  const Dim points = parts.join_tasks() * parts.parts * queries * along;
  kernel.flops = points * Dim(2);
  kernel.work.loops.push_back({.points = points, .lane_extent = along, .operations = 2, .loads = 3});
  return kernel;
}

/// Both kernels of the form for few queries.
Result<void> add_few_queries(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target,
                             const FewQueries& few, std::vector<Kernel>& out) {
  Kernel keys, join;
  TRY(emit_few_queries(keys, plan, target, tactic, nest, group, few));
  TRY(emit_join_of_ranges(join, plan, target, tactic, nest, group, few));
  keys.flops = select(few.used, flops_of(nest, group), Dim(0));
  keys.work = few_queries_work(nest, few.used, few.rows, vectors_for(few.rows, target), target);
  const Dim values = few.tiles * few.ranges * Dim(few.rows) * nest.axes[kValueSize].extent;
  join.flops = values * Dim(2);
  join.work.loops.push_back({.points = values, .lane_extent = nest.axes[kValueSize].extent, .operations = 2, .loads = 3});
  for (Kernel* kernel : {&keys, &join}) {
    kernel->nodes = nest.nodes;
    kernel->tactic = text_of(tactic);
    out.push_back(std::move(*kernel));
  }
  return {};
}

}  // namespace

Result<std::vector<Kernel>> lower_attention(const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target) {
  const Nest& nest = group.nests[0];
  TRY(check_places(nest, plan));
  const KeyParts parts = key_parts(nest, group, tactic, plan, target);
  const auto few = few_queries(nest, group, tactic, plan);
  std::vector<Kernel> kernels;
  if (few) TRY(add_few_queries(nest, group, tactic, plan, target, *few, kernels));
  if (few && few->used == Dim(1)) return kernels;
  Kernel kernel;
  TRY(emit_attention(kernel, plan, target, tactic, nest, group, parts));
  kernel.flops = flops_of(nest, group);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic);
  kernel.work = attention_work(nest, tactic.tile, target);
  if (few) zero_work_where(few->used, kernel);
  kernels.push_back(std::move(kernel));
  if (parts.several()) kernels.push_back(TRY(kernel_of_join(nest, group, tactic, plan, target, parts)));
  return kernels;
}

}  // namespace tenon::codegen
