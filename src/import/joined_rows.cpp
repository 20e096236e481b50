// SPDX-License-Identifier: Apache-2.0
#include "import/joined_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/nearest.h"

namespace tenon::import {
namespace {

/// The operand whose rows result `index` of the node has first; nullopt: it has other ones.
std::optional<uint32_t> kept_operand(const ir::Graph& graph, const ir::Node& node, uint32_t index, uint32_t growing) {
  if (node.is("Identity") || node.is("TensorScatter") || node.is("ScatterND") || node.is("ScatterElements")) return 0;
  if (node.is("Concat")) {
    const int64_t axis = node.attributes.integer("axis", 0), rank = graph.value(node.outputs[0]).type.rank();
    return (axis < 0 ? axis + rank : axis) == growing ? std::optional(0) : std::nullopt;
  }
  const bool is_present = (index == 1 || index == 2) && growing == 2;
  if (is_present && node.is("Attention")) return 3 + index;
  if (is_present && node.is("com.microsoft", "MultiHeadAttention")) return 5 + index;
  return std::nullopt;
}

Result<ir::ValueId> output_named(const ir::Graph& graph, const StatePair& pair) {
  std::vector<std::string> names;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
    names.push_back(graph.output_name(k));
    if (names.back() == pair.present) return graph.outputs()[k];
  }
  return fail(Code::bad_input, fmt::format("state '{}'", pair.text), fmt::format("the model has no output '{}'", pair.present))
      .expected(fmt::format("one of: {}", fmt::join(names, ", ")))
      .found(pair.present)
      .advice(did_you_mean(pair.present, names, "a pair is PAST=PRESENT, by the names of the model"));
}

}  // namespace

Result<void> check_rows(const ir::Graph& graph, const CachePair& cache) {
  const ir::ValueId past = graph.find_value(cache.names.past);
  ir::ValueId at = TRY(output_named(graph, cache.names));
  std::string maker = "no node";
  while (graph.value(at).kind == ir::Value::Kind::result) {
    const ir::NodeId id = graph.value(at).producer;
    const ir::Node& node = graph.node(id);
    maker = graph.view(id).where();
    const auto operand = kept_operand(graph, node, graph.value(at).index, cache.axis);
    if (!operand || *operand >= node.inputs.size() || !node.inputs[*operand]) break;
    at = node.inputs[*operand];
    if (at == past) return {};
    maker += ", of another value";
  }
  return fail(Code::not_supported, fmt::format("output '{}'", cache.names.present),
              fmt::format("not supported yet: a cache that is not '{}' with rows joined or scattered", cache.names.past))
      .expected("Concat of the past and new rows, or a scatter into it")
      .found(maker);
}

}  // namespace tenon::import
