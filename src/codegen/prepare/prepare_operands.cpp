// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/prepare_operands.h"

#include <utility>

#include "base/result.h"
#include "codegen/analysis/plan_verify.h"
#include "codegen/prepare/preparation.h"

namespace tenon::codegen {

void Preparation::add(Group group, Tactic tactic) {
  plan.groups.push_back(std::move(group));
  tactics.push_back(std::move(tactic));
}

void Preparation::add_copies(std::vector<Nest> copies, ir::NodeId node) {
  for (Nest& nest : copies) {
    Group copy{.payload = LoopGroup{.auxiliary = true}, .node = node};
    copy.nests.push_back(std::move(nest));
    prepare_loops(copy, default_loop_tactic(), *this);
  }
}

Result<PreparedPlan> prepare_operands(Plan plan, std::vector<Tactic> tactics, const Target& target, const PlanOptions& options) {
  TENON_ASSERT(tactics.size() == plan.groups.size());
  const size_t arrays = plan.arrays.size();
  const std::vector<Group> groups = std::exchange(plan.groups, {});
  Preparation out{.plan = std::move(plan), .tactics = {}, .target = target};
  for (size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    switch (group.kind()) {
      case GroupKind::nests: prepare_loops(group, std::get<LoopTactic>(tactics[g]), out); break;
      case GroupKind::contract: prepare_contract(group, std::get<ContractTactic>(tactics[g]), out); break;
      case GroupKind::attention: prepare_attention(group, std::get<AttentionTactic>(tactics[g]), out); break;
      case GroupKind::segment:
      case GroupKind::control:
      case GroupKind::check:
      case GroupKind::packed_rows:
      case GroupKind::sizes: out.add(group, tactics[g]); break;
    }
  }
  if (options.dump && (out.plan.groups.size() != groups.size() || out.plan.arrays.size() != arrays))
    options.dump("prepare_operands", out.plan);
  if (options.verify)
    if (auto sound = verify(out.plan); !sound) return std::move(sound).error().at("after planning pass prepare_operands");
  return PreparedPlan{std::move(out.plan), std::move(out.tactics)};
}

}  // namespace tenon::codegen
