// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/attention.h"

#include "codegen/analysis/places.h"
#include "codegen/lower/attention/attention_kernel.h"

namespace tenon::codegen {

namespace {

/// Query, key and value are walked in steps; a mask may be read anywhere.
Result<void> places_known(const Nest& nest, const Plan& plan) {
  for (size_t k = 0; k < 3; ++k)
    if (nest.accesses[k].within || !affine_of(flat_of(nest.accesses[k], plan), kAttentionAxes))
      return fail(Code::not_supported, "", "not supported yet: attention over operands whose places are not affine");
  return {};
}

/// Of query and key; of packed sequences as if they were of one length.
Dim pairs_of(const Nest& nest, const Group& group) {
  const Dim batch = nest.axes[kBatch].extent, keys = nest.axes[kKey].extent;
  const Dim rows = nest.axes[kKeyHead].extent * nest.axes[kSharing].extent * nest.axes[kQuery].extent;
  return group.as<AttentionGroup>().longest_sequence ? rows * floor_div(keys, max(Dim(1), batch)) : batch * rows * keys;
}

Result<Kernel> join_of_parts(const Nest& nest, const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target,
                             const KeyParts& parts) {
  Kernel kernel;
  TRY(emit_merge_of_parts(kernel, plan, target, tactic, nest, group, parts));
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic);
  const Dim along = padded_values(nest, tactic.tile, target), queries = int64_t{tactic.tile.vectors} * target.lanes();
  const Dim points = parts.tasks_of_join() * parts.parts * queries * along;
  kernel.flops = points * Dim(2);
  kernel.work.loops.push_back({.points = points, .lane_extent = along, .operations = 2, .loads = 3});
  return kernel;
}

}  // namespace

Result<std::vector<Kernel>> lower_attention(const Group& group, const AttentionTactic& tactic, const Plan& plan, const Target& target) {
  const Nest& nest = group.nests[0];
  TRY(places_known(nest, plan));
  const KeyParts parts = key_parts(nest, group, tactic, plan, target);
  std::vector<Kernel> kernels;
  Kernel kernel;
  TRY(emit_attention(kernel, plan, target, tactic, nest, group, parts));
  kernel.flops = pairs_of(nest, group) * Dim(2) * (nest.axes[kHeadSize].extent + nest.axes[kValueSize].extent);
  kernel.nodes = nest.nodes;
  kernel.tactic = text_of(tactic);
  kernel.work = attention_work(nest, tactic.tile, target);
  kernels.push_back(std::move(kernel));
  if (parts.several()) kernels.push_back(TRY(join_of_parts(nest, group, tactic, plan, target, parts)));
  return kernels;
}

}  // namespace tenon::codegen
