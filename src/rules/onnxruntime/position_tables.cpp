// SPDX-License-Identifier: Apache-2.0
// Nodes around functions that compute tables of cosines and sines: positions as a column, and casts of both tables.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_position_tables {
using namespace rewrite;
namespace {

/// [batch, 1] that was [batch].
bool column_of_positions(Match& m) {
  const NodeId reshape = m.producer(m.operand(m.root(), 0));
  if (!reshape || !is_reshape(m.node(reshape))) return false;
  const DimList *vector = m.shape(m.operand(reshape, 0)), *column = m.shape(m.result(reshape));
  if (!vector || vector->size() != 1 || !column || column->size() != 2) return false;
  if (!(*column)[0].known_equal((*vector)[0]) || !(*column)[1].known_equal(1)) return m.refuse("the positions are no column");
  return m.accept(m.operand(reshape, 0));
}

bool from_vector(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[0] = m.state<ValueId>();
  return replace_root_results(m, w, w.clone_with_operands(m.root(), inputs));
}

struct Casts {
  DType to = DType::none;
  std::vector<std::pair<NodeId, size_t>> nodes;  ///< and the table that each casts
};

/// All that is done with both tables is to cast them to one type.
bool cast_alike(Match& m) {
  const Node& node = m.node(m.root());
  Casts found;
  if (node.attributes.has("to")) return false;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    if (!node.outputs[k]) continue;
    for (const ir::Use& use : m.value(node.outputs[k]).uses) {
      if (!use.node || !m.node(use.node).is("Cast")) return false;
      const DType to = m.dtype(m.result(use.node));
      if (!is_arithmetic_float(to) || (found.to != DType::none && to != found.to)) return m.refuse("cast to different types");
      found.to = to;
      found.nodes.emplace_back(use.node, k);
    }
  }
  return !found.nodes.empty() && m.accept(std::move(found));
}

bool made_so(const Match& m, Rewriter& w) {
  const Casts& found = m.state<Casts>();
  const Node& node = m.node(m.root());
  ir::Attributes how;
  how.set("to", static_cast<int64_t>(found.to));
  const auto tables = w.many(*node.op, node.inputs, 2, std::move(how));
  for (const auto& [cast, k] : found.nodes) w.replace(m.result(cast), tables[k]);
  return true;
}

}  // namespace

RULES(onnxruntime_position_tables) {
    .sets = "default",
    .rules =
        {
            {.name = "positions_as_vector",
             .docs = "one position a batch as a vector",
             .roots = "tenon::CosSinPositions",
             .match = column_of_positions,
             .rewrite = from_vector,
             .benefit = 2,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCosSinCache"},
            {.name = "tables_cast",
             .docs = "tables of cosines and sines of which both are cast are made in that type",
             .roots = "tenon::CosSinCache tenon::CosSinPositions",
             .match = cast_alike,
             .rewrite = made_so,
             .benefit = 1,
             .allow_outside_uses = true,
             .covered_patterns = "FunctionCosSinCache"},
        },
};

}  // namespace tenon::rules::onnxruntime_position_tables
