// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu.h"

#include <algorithm>

#include "codegen/loops/attention.h"
#include "codegen/loops/control.h"
#include "ops/core/op.h"

namespace tenon::backends::cpu {

namespace {

using codegen::Group;
using codegen::Kernel;

/// A result that is an input or a constant is copied, and kernels copy only what they can compute with: the rest passes an Identity.
Result<void> own_results(ir::Graph& graph) {
  for (uint32_t slot = 0; slot < graph.outputs().size(); ++slot) {
    const ir::ValueId v = graph.outputs()[slot];
    const ir::Value& value = graph.value(v);
    const DType d = value.type.dtype;
    const bool narrow = d == DType::string || is_complex(d) || bits_of(d) < 8 || (is_float(d) && !is_real_arithmetic(d));
    if (!narrow || value.type.kind != ir::Type::Kind::tensor) continue;
    const auto before = graph.outputs().first(slot);
    const bool own = value.kind == ir::Value::Kind::result && !value.constant && std::find(before.begin(), before.end(), v) == before.end();
    if (own) continue;
    const ir::NodeId node = graph.insert(*graph.ops().find("", "Identity"), {v}, 1);
    TRY(ir::infer(graph, node));
    graph.set_output(slot, graph.node(node).outputs[0]);
  }
  return {};
}

/// Writes ops that have no kernel out in plain ops. Returns whether there was one.
Result<bool> expand_fused(ir::Graph& graph) {
  std::vector<ir::NodeId> fused;
  for (ir::NodeId n : graph.nodes()) {
    const ir::Node& node = graph.node(n);
    const ops::OpDef& def = ops::def_of(*node.op);
    if (!def.definition || (def.form && def.form(graph.view(n)))) continue;
    if (def.kernels == ops::KernelFamily::attention && codegen::attention_fits(graph.view(n))) continue;
    fused.push_back(n);
  }
  bool any = false;
  for (ir::NodeId n : fused) {
    auto expanded = ops::expand(graph, n);
    if (!expanded && expanded.error().code() != Code::not_supported) return std::unexpected(std::move(expanded).error());
    any |= expanded.has_value();
  }
  return any;
}

/// A node that runs by reference travels as text, which holds small constants only: the large ones of its bodies become captures.
void lift_constants(ir::Graph& graph, ir::NodeId node) {
  constexpr int64_t kInText = 64;
  for (size_t b = 0; b < graph.node(node).bodies.size(); ++b) {
    ir::Graph& body = graph.body(node, b);
    for (ir::NodeId inner : body.nodes()) lift_constants(body, inner);
    for (ir::ValueId v : body.values()) {
      if (!body.value(v).is_constant() || body.value(v).constant->count() <= kInText) continue;
      const ir::ValueId input = graph.add_capture(node, b, graph.add_constant(body.value(v).constant));
      body.set_type(input, body.value(v).type);
      TENON_ASSERT(body.replace_all_uses(v, input));
      body.erase_value(v);
    }
  }
}

}  // namespace

Result<void> prepare(ir::Graph& graph) {
  // What a definition is made of may have a definition itself: LSTM is a Scan, and that a Loop.
  for (bool again = true; again;) again = TRY(expand_fused(graph));
  for (ir::NodeId n : graph.nodes())
    for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) TRY(prepare(graph.body(n, b)));
  for (ir::NodeId n : graph.nodes())
    if (!graph.node(n).bodies.empty() && !codegen::runs_as_programs(graph, n)) lift_constants(graph, n);
  return own_results(graph);
}

Result<std::vector<std::vector<Kernel>>> lower(const ir::Graph& graph, codegen::Plan& plan, const codegen::Target& target,
                                               const codegen::TacticBook& tactics) {
  std::vector<std::vector<Kernel>> out;
  for (const Group& group : plan.groups) {
    const codegen::Tactic tactic = TRY(tactics.tactic_of(group, graph, target));
    auto kernels = codegen::lower_group(group, tactic, plan, target);
    if (!kernels) {
      Error e = std::move(kernels.error());
      const ir::NodeId n = group.node                                              ? group.node
                           : !group.nests.empty() && !group.nests[0].nodes.empty() ? group.nests[0].nodes[0]
                                                                                   : ir::NodeId{};
      return n ? std::move(e).at(graph.view(n).where()) : e;
    }
    out.push_back(std::move(*kernels));
  }
  return out;
}

}  // namespace tenon::backends::cpu
