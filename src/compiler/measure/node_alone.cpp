// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/node_alone.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/trials.h"

namespace tenon::compiler {

namespace {

constexpr int64_t kMostListed = 16;  ///< elements of a constant that tell how long a node takes: axes, pads, a shape

/// Numbers in place of symbols; false where one has no number.
bool settle(ir::Type& type, const SizesOfSymbols& sizes) {
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
  if (constant.count() > kMostListed || (!is_integer(constant.dtype))) return "constant";
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

SizesOfSymbols usual_sizes(const ir::Graph& graph) {
  SizesOfSymbols out;
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

Result<std::optional<NodeAlone>> node_alone(const ir::Graph& graph, ir::NodeId node, const SizesOfSymbols& sizes) {
  if (!graph.node(node).bodies.empty()) return std::nullopt;
  NodeAlone out{backend::alone(graph, node), {}};
  std::vector<ir::ValueId> operands;  // those that are inputs there, in that order
  for (ir::ValueId v : graph.node(node).inputs)
    if (v && !graph.value(v).is_constant() && std::ranges::find(operands, v) == operands.end()) operands.push_back(v);
  if (operands.empty()) return std::nullopt;
  for (size_t k = 0; k < operands.size(); ++k) {
    ir::Type type = graph.value(operands[k]).type;
    if (!settle(type, sizes)) return std::nullopt;
    out.graph->set_type(out.graph->inputs()[k], std::move(type));
  }
  TRY(ir::infer_all(*out.graph));
  out.signature = signature_of(*out.graph);
  return out;
}

}  // namespace tenon::compiler
