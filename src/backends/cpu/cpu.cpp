// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu.h"

#include "codegen/attention.h"
#include "ops/op.h"

namespace tenon::backends::cpu {

namespace {

using codegen::Group;
using codegen::GroupKind;
using codegen::Kernel;

Result<std::vector<Kernel>> lower_group(const Group& group, codegen::Plan& plan, const codegen::Target& target) {
  switch (group.kind) {
    case GroupKind::nests: {
      std::vector<Kernel> one;
      one.push_back(TRY(codegen::lower_nests(group, plan, target)));
      return one;
    }
    case GroupKind::contract: return codegen::lower_contract(group, plan, target);
    case GroupKind::attention: return codegen::lower_attention(group, plan, target);
    case GroupKind::opaque: case GroupKind::control: case GroupKind::sizes: break;
  }
  return std::vector<Kernel>{};
}

}  // namespace

Result<void> prepare(ir::Graph& graph) {
  std::vector<ir::NodeId> fused;
  for (ir::NodeId n : graph.nodes()) {
    const ir::Node& node = graph.node(n);
    const ops::OpDef& def = ops::def_of(*node.op);
    if (!def.definition || def.form) continue;
    if (node.is("Attention") && codegen::attention_fits(graph.view(n))) continue;
    fused.push_back(n);
  }
  for (ir::NodeId n : fused)
    if (auto expanded = ops::expand(graph, n); !expanded && expanded.error().code() != Code::not_supported) return expanded;
  return {};
}

Result<std::vector<std::vector<Kernel>>> lower(const ir::Graph& graph, codegen::Plan& plan, const codegen::Target& target) {
  std::vector<std::vector<Kernel>> out;
  for (const Group& group : plan.groups) {
    auto kernels = lower_group(group, plan, target);
    if (!kernels) {
      Error e = std::move(kernels.error());
      const ir::NodeId n = group.node ? group.node : !group.nests.empty() && !group.nests[0].nodes.empty() ? group.nests[0].nodes[0] : ir::NodeId{};
      return n ? std::move(e).at(graph.view(n).where()) : e;
    }
    out.push_back(std::move(*kernels));
  }
  return out;
}

}  // namespace tenon::backends::cpu
