// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/single_node_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/trials.h"

namespace tenon::compiler {

namespace {

/// Constants of more elements are data; those of fewer (axes, pads, a shape) influence the time of a node and are part of its signature.
constexpr int64_t kMaxSignatureElements = 16;

/// Replaces symbols in the type by their sizes; false where one has no size.
bool substitute_sizes(ir::Type& type, const SymbolSizes& sizes) {
  if (!type.is_tensor() || !type.has_rank()) return false;
  for (Dim& d : *type.shape) {
    d = substitute(d, [&](const DimNode& symbol) {
      const auto known = sizes.find(&symbol);
      return known == sizes.end() ? Dim::of(&symbol) : Dim(known->second);
    });
    if (!d.is_number() || d.value() < 0) return false;
  }
  return true;
}

std::string text_of_constant(const ir::Constant& constant) {
  if (constant.count() > kMaxSignatureElements || (!is_integer(constant.dtype))) return "constant";
  std::string out = "constant";
  if (const Tensor* tensor = constant.tensor())
    for (int64_t i = 0; i < tensor->count(); ++i) out += fmt::format(" {}", tensor->integer(i));
  return out;
}

std::string signature_of(const ir::Graph& graph) {
  std::string out;
  for (ir::NodeId n : graph.nodes()) {
    out += backend::call_text(graph.view(n));
    for (ir::ValueId v : graph.node(n).inputs)
      if (v && graph.value(v).is_constant()) out += "; " + text_of_constant(*graph.value(v).constant);
  }
  return out;
}

}  // namespace

SymbolSizes default_sizes(const ir::Graph& graph) {
  SymbolSizes out;
  for (ir::ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    if (!type.is_tensor() || !type.has_rank()) continue;
    for (size_t axis = 0; axis < type.shape->size(); ++axis)
      each_symbol((*type.shape)[axis], [&](const DimNode& s) {
        out.try_emplace(&s, std::clamp<int64_t>(axis == 0 ? 1 : 16, s.lower, std::max(s.lower, s.upper)));
      });
  }
  return out;
}

Result<std::optional<SingleNodeGraph>> single_node_graph(const ir::Graph& graph, ir::NodeId node, const SymbolSizes& sizes) {
  if (!graph.node(node).bodies.empty()) return std::nullopt;
  SingleNodeGraph out{backend::single_node_graph(graph, node), {}};
  std::vector<ir::ValueId> operands;  // those that are inputs of the new graph, in its order
  for (ir::ValueId v : graph.node(node).inputs)
    if (v && !graph.value(v).is_constant() && std::ranges::find(operands, v) == operands.end()) operands.push_back(v);
  if (operands.empty()) return std::nullopt;
  for (size_t k = 0; k < operands.size(); ++k) {
    ir::Type type = graph.value(operands[k]).type;
    if (!substitute_sizes(type, sizes)) return std::nullopt;
    out.graph->set_type(out.graph->inputs()[k], std::move(type));
  }
  TRY(ir::infer_all(*out.graph));
  out.signature = signature_of(*out.graph);
  return out;
}

}  // namespace tenon::compiler
