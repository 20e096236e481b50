// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/contraction.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/padding.h"
#include "codegen/lower/schedule.h"
#include "codegen/lower/windows.h"
#include "codegen/prepare/preparation.h"
#include "codegen/prepare/read_blocks.h"
#include "codegen/prepare/transpose_constants.h"

namespace tenon::codegen {

namespace {

/// Prepares a group that runs as a window sum. False: it does not, and nothing is changed.
bool prepare_window(const Group& group, const LoopTactic& tactic, Preparation& to) {
  const auto sum = window_of(group, tactic, to.plan);
  if (!sum) return false;
  Group window = group;
  transpose_constants(window.nests[0], group.nests[0], sum->channels, to.plan);
  if (!are_weights_channels_last(window.nests[0], *sum, to.plan)) return false;  // weights that cannot be transposed
  to.add(std::move(window), tactic);
  return true;
}

void pad_operands(Group& group, Preparation& to) {
  if (group.nests.size() != 1 || !is_sum_of_products(group.nests[0])) return;
  const Nest nest = group.nests[0];
  std::vector<Nest> copies;
  for (NestAccess& a : group.nests[0].accesses) pad_operand(a, nest, to.plan, copies);
  to.add_copies(std::move(copies), group.node);
}

void transpose_operands(Group& group, const LoopTactic& tactic, Preparation& to) {
  if (group.nests.size() != 1 || !check_lanes(group.nests, tactic, to.plan)) return;  // lowering refuses such lanes
  const ScheduledNest scheduled = schedule_group_nest(group, tactic, to.plan, to.target);
  transpose_constants(group.nests[0], scheduled.nest, scheduled.schedule.vector, to.plan);
}

}  // namespace

void prepare_loops(const Group& group, const LoopTactic& tactic, Preparation& to) {
  if (prepare_window(group, tactic, to)) return;
  if (group.epilogue) {
    for (const Group& g : plain_groups(group)) prepare_loops(g, tactic, to);
    return;
  }
  Group out = group;
  pad_operands(out, to);
  for (Nest& nest : out.nests) read_blocks(nest, to.plan, to.target);
  transpose_operands(out, tactic, to);
  to.add(std::move(out), tactic);
}

}  // namespace tenon::codegen
