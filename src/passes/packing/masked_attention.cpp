// SPDX-License-Identifier: Apache-2.0
#include "passes/packing/masked_attention.h"

#include <algorithm>

#include "ops/attention/scores.h"

namespace tenon::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;

/// Whether the node transposes [batch, sequence, heads, size] to [batch, heads, sequence, size], or back.
bool is_head_transpose(const Node& node) { return node.is("Transpose") && node.attributes.ints("perm") == ir::Ints{0, 2, 1, 3}; }

bool is_f32(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.is_tensor() && type.dtype == DType::f32 && type.has_rank() && type.rank() == 4;
}

/// Whether the node is an Attention with a mask and without a cache, further results, causality and windows (which depend on positions).
bool is_plain(const Graph& graph, const Node& node) {
  if (!node.is("Attention") || node.inputs.size() != ops::kMask + 1 || node.placement()) return false;
  if (!std::ranges::all_of(node.inputs, [](ValueId v) { return static_cast<bool>(v); })) return false;
  for (size_t k = 1; k < node.outputs.size(); ++k)
    if (node.outputs[k]) return false;
  const ir::Attributes& a = node.attributes;
  return a.integer("is_causal", 0) == 0 && a.integer("left_window_size", -1) < 0 && a.integer("right_window_size", -1) < 0 &&
         is_f32(graph, node.inputs[0]) && is_f32(graph, node.inputs[1]) && is_f32(graph, node.inputs[2]);
}

/// The operand of the head transpose that produces the value; none where its producer is another node.
ValueId operand_of_head_transpose(const Graph& graph, ValueId value) {
  const NodeId producer = graph.value(value).producer;
  return producer && is_head_transpose(graph.node(producer)) ? graph.node(producer).inputs[0] : ValueId{};
}

/// Whether a mask of this type, [sequences, 1, 1, length], hides keys alike for all heads and queries.
bool is_key_mask(const Type& mask) {
  return mask.is_tensor() && mask.has_rank() && mask.rank() == 4 && mask.dim(1).known_equal(1) && mask.dim(2).known_equal(1) &&
         !mask.dim(3).known_equal(1) && (mask.dtype == DType::f32 || mask.dtype == DType::boolean);
}

}  // namespace

std::optional<MaskedAttention> masked_attention(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!is_plain(graph, node)) return std::nullopt;
  MaskedAttention out;
  out.node = id;
  out.mask = node.inputs[ops::kMask];
  const Type& mask = graph.value(out.mask).type;
  if (!is_key_mask(mask)) return std::nullopt;
  out.padded = {mask.dim(0), mask.dim(3)};
  out.key = operand_of_head_transpose(graph, node.inputs[ops::kKey]);
  out.value = operand_of_head_transpose(graph, node.inputs[ops::kValue]);
  out.query = operand_of_head_transpose(graph, node.inputs[ops::kQuery]);
  const auto has_rows = [&](ValueId v) { return v && out.padded.has_rows(graph.value(v).type); };
  if (!has_rows(out.key) || !has_rows(out.value) || !out.query) return std::nullopt;
  out.all_rows_are_queries = has_rows(out.query);
  const Type& query = graph.value(out.query).type;
  if (!query.dim(0).known_equal(out.padded.sequences)) return std::nullopt;
  for (int axis = 1; axis < 4 && !out.all_rows_are_queries; ++axis)
    if (!query.dim(axis).is_number() || query.dim(axis).value() < 1) return std::nullopt;
  for (const ir::Use& use : graph.value(node.outputs[0]).uses) {
    if (use.is_output() || !is_head_transpose(graph.node(use.node))) return std::nullopt;
    out.rows.push_back(graph.node(use.node).outputs[0]);
  }
  return out;
}

}  // namespace tenon::passes
