// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/in_precision.h"

#include <algorithm>

namespace tenon::cli {

namespace {

constexpr std::string_view kProductKinds[] = {"MatMul", "Gemm", "Conv", "FusedMatMul", "FusedConv"};

Result<ir::ValueId> cast(ir::Graph& graph, ir::ValueId value, DType to, ir::NodeId before) {
  ir::Attributes how;
  how.set("to", static_cast<int64_t>(to));
  const ir::NodeId node = graph.insert(*graph.ops().find("", "Cast"), {value}, 1, std::move(how), before);
  TRY(ir::infer(graph, node));
  return graph.node(node).outputs[0];
}

bool is_product(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& n = graph.node(id);
  if (std::ranges::find(kProductKinds, n.op->name) == std::end(kProductKinds) || n.inputs.size() < 2) return false;
  const ir::Value &a = graph.value(n.inputs[0]), &b = graph.value(n.inputs[1]);
  return a.type.dtype == DType::f32 && b.type.dtype == DType::f32 && (a.is_constant() || b.is_constant());
}

}  // namespace

Result<std::unique_ptr<ir::Graph>> in_precision(const ir::Graph& graph, codegen::Precision precision) {
  auto copy = graph.clone();
  if (precision == codegen::Precision::f32) return copy;
  for (const ir::NodeId id : graph.nodes()) {
    if (!is_product(graph, id)) continue;
    for (const uint32_t slot : {0U, 1U}) {
      const ir::ValueId rounded = TRY(cast(*copy, copy->node(id).inputs[slot], DType::bf16, id));
      copy->set_operand(id, slot, TRY(cast(*copy, rounded, DType::f32, id)));
    }
  }
  return copy;
}

bool rounds_to_bytes(const ir::Graph& graph) {
  const auto dtype = [&](ir::ValueId v) { return v ? graph.value(v).type.dtype : DType::none; };
  const auto is_byte = [&](ir::ValueId v) { return is_integer(dtype(v)) && bits_of(dtype(v)) <= 8; };
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& n = graph.node(id);
    const bool here =
        std::ranges::any_of(n.inputs, [&](ir::ValueId v) { return is_float(dtype(v)); }) && std::ranges::any_of(n.outputs, is_byte);
    if (here || std::ranges::any_of(n.bodies, [](const ir::Body& b) { return rounds_to_bytes(*b.graph); })) return true;
  }
  return false;
}

}  // namespace tenon::cli
