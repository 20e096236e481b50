// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/write_explicitly.h"

#include <algorithm>

#include "ir/builder.h"
#include "ops/infer/axes.h"
#include "ops/infer/refuse.h"
#include "ops/infer/shape_data.h"
#include "ops/versions/attributes.h"

namespace tenon::ops {
namespace {

/// The rank that the axes of a node count from the end of; -1: not known.
int rank_of_axes(const NodeView& view) {
  if (view.op->name == "OneHot") return view.outputs[0].has_rank() ? view.outputs[0].rank() : -1;
  if (view.op->name == "Unsqueeze") return view.outputs[0].has_rank() ? view.outputs[0].rank() : -1;
  return view.explicit_inputs > 0 && view.has(0) && view.type(0).has_rank() ? view.rank(0) : -1;
}

Result<void> count_axes_from_zero(ir::Graph& graph, ir::NodeId node) {
  const NodeView view = graph.view(node);
  const int rank = rank_of_axes(view);
  if (rank < 0) return {};
  if (const int64_t axis = view.attributes->integer("axis", 0); axis < 0) graph.set_attribute(node, "axis", axis + rank);
  if (ir::Ints axes = view.attributes->ints("axes"); std::ranges::any_of(axes, [](int64_t a) { return a < 0; })) {
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    graph.set_attribute(node, "axes", std::move(axes));
  }
  return {};
}

Result<void> state_hidden_size(ir::Graph& graph, ir::NodeId node) {
  const NodeView view = graph.view(node);
  if (view.attributes->has("hidden_size") || !view.type(2).has_rank()) return {};
  if (const auto size = view.type(2).dim(2).number()) graph.set_attribute(node, "hidden_size", *size);
  return {};
}

/// Ellipses that stand for fewer axes than another one get leading axes of size 1.
Result<void> align_ellipses(ir::Graph& graph, ir::NodeId node) {
  const NodeView view = graph.view(node);
  std::string text = view.attributes->text("equation", "");
  std::erase(text, ' ');
  struct Ellipsis {
    size_t operand;
    int64_t first, axes;
  };
  std::vector<Ellipsis> found;
  std::string_view terms = std::string_view(text).substr(0, text.find("->"));
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const std::string_view term = terms.substr(0, terms.find(','));
    terms.remove_prefix(std::min(terms.size(), term.size() + 1));
    if (!view.type(k).has_rank()) return {};
    const size_t dots = term.find("...");
    if (dots != term.npos) found.push_back({k, static_cast<int64_t>(dots), view.rank(k) - static_cast<int64_t>(term.size() - 3)});
  }
  int64_t widest = 0;
  for (const Ellipsis& e : found) widest = std::max(widest, e.axes);
  for (const Ellipsis& e : found) {
    if (e.axes == widest) continue;
    ir::Ints axes;
    for (int64_t k = e.axes; k < widest; ++k) axes.push_back(e.first + k - e.axes);
    ir::Builder build(graph, node);
    const ir::ValueId wide = build("Unsqueeze", {graph.node(node).inputs[e.operand], build.ints(axes)});
    TRY(build.status());
    graph.set_operand(node, static_cast<uint32_t>(e.operand), wide);
  }
  return {};
}

Result<void> set_sizes(ir::Graph& graph, ir::NodeId node, const ir::Ints& sizes) {
  const auto count = static_cast<int64_t>(sizes.size());
  put_operand(graph, node, 1, graph.add_constant(ir::constant_of(Tensor::of_i64({count}, sizes))));
  return {};
}

/// Operand `slot` as i64 where it is a constant of another integer type.
Result<void> widen_constant(ir::Graph& graph, ir::NodeId node, size_t slot) {
  const NodeView view = graph.view(node);
  if (!view.has(slot) || view.type(slot).dtype == DType::i64) return {};
  const auto values = known_ints(view, slot);
  if (!values) return {};
  const auto count = static_cast<int64_t>(values->size());
  graph.set_operand(node, static_cast<uint32_t>(slot), graph.add_constant(ir::constant_of(Tensor::of_i64({count}, *values))));
  return {};
}

Result<void> state_parts(ir::Graph& graph, ir::NodeId node) {
  const NodeView view = graph.view(node);
  if (view.has(1) || view.attributes->has("split") || !view.type(0).has_rank()) return {};
  const int axis = TRY(normal_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
  ir::Ints parts;
  for (const Type& part : view.outputs) {
    const auto size = part.has_rank() ? part.dim(axis).number() : std::nullopt;
    if (!size) return {};
    parts.push_back(*size);
  }
  if (parts.empty() || parts.back() > 0) return {};
  graph.erase_attribute(node, "num_outputs");
  return set_sizes(graph, node, parts);
}

/// A target size of 0 that copies a size of 0: -1 beside it has no value that the package onnx can infer.
bool copies_zero(const Type& from, const ir::Ints& shape) {
  for (size_t k = 0; k < std::min(shape.size(), from.shape->size()); ++k)
    if (shape[k] == 0 && (*from.shape)[k] == Dim(0)) return true;
  return false;
}

Result<void> state_shape(ir::Graph& graph, ir::NodeId node) {
  const NodeView view = graph.view(node);
  const auto shape = known_ints(view, 1);
  if (!shape || std::ranges::find(*shape, -1) == shape->end() || view.attributes->integer("allowzero", 0) != 0) return {};
  const Type &from = view.type(0), &to = view.outputs[0];
  if (!from.has_rank() || !to.is_static() || !copies_zero(from, *shape)) return {};
  ir::Ints sizes;
  for (size_t k = 0; k < shape->size(); ++k) sizes.push_back((*shape)[k] == 0 ? 0 : to.dim(static_cast<int>(k)).value());
  return set_sizes(graph, node, sizes);
}

}  // namespace

Result<void> write_explicitly(ir::Graph& graph, ir::NodeId node, int64_t opset) {
  const ir::Node& n = graph.node(node);
  if (!n.op->domain.empty() || n.op->unknown) return {};
  const std::string_view name = n.op->name;
  if (opset < 11) TRY(count_axes_from_zero(graph, node));
  if (name == "STFT") default_attribute(graph, node, "onesided", int64_t{1});
  if (name == "GRU" || name == "LSTM" || name == "RNN") return state_hidden_size(graph, node);
  if (name == "Einsum") return align_ellipses(graph, node);
  if (name == "Pad") return widen_constant(graph, node, 3);
  if (name == "Split") return state_parts(graph, node);
  if (name == "Reshape") return state_shape(graph, node);
  return {};
}

}  // namespace tenon::ops
