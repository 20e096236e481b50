// SPDX-License-Identifier: Apache-2.0
#include "passes/packing/packable_nodes.h"

#include <algorithm>

namespace tenon::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Use;
using ir::ValueId;

/// Finds the mask that most attentions share, and these attentions. runs: whether a backend runs an Attention over packed rows.
void find_mask(const Graph& graph, const std::function<bool(const ir::NodeView&)>& runs, PackableNodes& packable) {
  std::unordered_map<ValueId, std::vector<MaskedAttention>> by_mask;
  size_t most = 0;
  for (NodeId n : graph.nodes()) {
    const auto found = masked_attention(graph, n);
    if (!found || !runs(graph.view(n))) continue;
    auto& list = by_mask[found->mask];
    list.push_back(*found);
    if (list.size() <= most) continue;
    most = list.size();
    packable.mask = found->mask;
    packable.padded = found->padded;
  }
  if (most > 0)
    for (MaskedAttention& a : by_mask[packable.mask]) packable.attentions.emplace(a.node, std::move(a));
}

/// The values that depend on a result of one of the attentions.
std::unordered_set<ValueId> values_after_attention(const Graph& graph, const PackableNodes& packable) {
  std::unordered_set<ValueId> out;
  for (NodeId n : graph.nodes()) {
    const Node& node = graph.node(n);
    const bool is_after =
        packable.attentions.contains(n) || std::ranges::any_of(node.inputs, [&](ValueId v) { return v && out.contains(v); });
    if (is_after)
      for (ValueId v : node.outputs)
        if (v) out.insert(v);
  }
  return out;
}

/// Finds the nodes that can compute packed rows alone; it walks from the last node to the first, since readers decide.
class PackingAnalysis {
 public:
  PackingAnalysis(const Graph& graph, PackableNodes& packable)
      : graph_(graph), packable_(packable), after_attention_(values_after_attention(graph, packable)) {}

  void run() {
    if (after_attention_.contains(packable_.mask)) return packable_.attentions.clear();
    for (NodeId n : graph_.nodes()) {
      if (auto parts = operand_parts(graph_, n, packable_.padded)) packable_.row_ops.emplace(n, *std::move(parts));
      else if (auto positions = gathered_positions(n)) packable_.row_gathers.emplace(n, *std::move(positions));
    }
    for (NodeId n = graph_.last(); n; n = graph_.previous(n)) {
      if (packable_.attentions.contains(n)) check_attention(n);
      else if (packable_.row_ops.contains(n)) check_row_op(n);
    }
    std::erase_if(packable_.row_gathers, [&](const auto& p) { return !is_packed(graph_.node(p.first).inputs[0]); });
  }

 private:
  /// Whether the value will be computed as packed rows.
  bool is_packed(ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    if (!producer) return false;
    if (packable_.row_ops.contains(producer)) return true;
    const ValueId heads = graph_.node(producer).inputs.empty() ? ValueId{} : graph_.node(producer).inputs[0];
    const auto found = heads ? packable_.attentions.find(graph_.value(heads).producer) : packable_.attentions.end();
    return found != packable_.attentions.end() && found->second.all_rows_are_queries && std::ranges::count(found->second.rows, v) > 0;
  }

  /// The positions of a Gather of at most 4 constant positions from a value that depends on attention; nullopt for other nodes. Which rows
  /// to compute must be known before attention runs.
  std::optional<ir::Ints> gathered_positions(NodeId n) const {
    const Node& node = graph_.node(n);
    if (!node.is("Gather") || node.attributes.integer("axis", 0) != 1 || node.placement()) return std::nullopt;
    if (!after_attention_.contains(node.inputs[0]) || !packable_.padded.has_rows(graph_.value(node.inputs[0]).type)) return std::nullopt;
    const Tensor* positions = graph_.value(node.inputs[1]).is_constant() ? graph_.tensor_of(node.inputs[1]) : nullptr;
    if (!positions || positions->rank() > 1 || positions->count() > 4) return std::nullopt;
    return integers_of(*positions);
  }

  void check_attention(NodeId n) {
    const MaskedAttention& a = packable_.attentions.at(n);
    if (a.all_rows_are_queries && std::ranges::any_of(a.rows, [&](ValueId v) { return has_reader_of_hidden_rows(v); }))
      packable_.attentions.erase(n);
  }

  void check_row_op(NodeId n) {
    const Node& node = graph_.node(n);
    if (std::ranges::none_of(node.outputs, [&](ValueId v) { return v && has_reader_of_hidden_rows(v); })) return;
    if (const ValueId weights = row_weights(n)) packable_.weighted.emplace(n, weights);
    else packable_.row_ops.erase(n);
  }

  /// The operand of a Mul that has one weight for each row and does not depend on attention, where the other operand does; none for other
  /// nodes.
  ValueId row_weights(NodeId n) const {
    const Node& node = graph_.node(n);
    if (!node.is("Mul")) return {};
    for (size_t k = 0; k < 2; ++k) {
      const ValueId weights = node.inputs[k], rows = node.inputs[1 - k];
      const auto& parts = packable_.row_ops.at(n);
      if (parts[0] != Part::row || parts[1] != Part::row || after_attention_.contains(weights) || !after_attention_.contains(rows))
        continue;
      if (graph_.value(weights).type.rank() > 2 && graph_.value(weights).type.dim(-1).known_equal(1)) return weights;
    }
    return {};
  }

  /// Whether a user reads rows that the mask hides.
  bool has_reader_of_hidden_rows(ValueId v) const {
    return std::ranges::any_of(graph_.value(v).uses, [&](const Use& use) { return use.is_output() || !reads_visible_rows_only(use); });
  }

  bool reads_visible_rows_only(const Use& use) const {
    if (packable_.row_gathers.contains(use.node)) return use.slot == 0;
    if (const auto op = packable_.row_ops.find(use.node); op != packable_.row_ops.end())
      return use.slot < op->second.size() && op->second[use.slot] == Part::row;
    return is_transposed_for_attention(use);
  }

  /// Whether the user is a Transpose of heads for attentions that read only visible rows.
  bool is_transposed_for_attention(const Use& use) const {
    const Node& transpose = graph_.node(use.node);
    if (!transpose.is("Transpose")) return false;
    return std::ranges::all_of(graph_.value(transpose.outputs[0]).uses,
                               [&](const Use& u) { return !u.is_output() && packable_.attentions.contains(u.node) && u.slot < 3; });
  }

  const Graph& graph_;
  PackableNodes& packable_;
  std::unordered_set<ValueId> after_attention_;
};

}  // namespace

bool PackableNodes::is_profitable() const {
  return std::ranges::any_of(attentions, [](const auto& a) { return a.second.all_rows_are_queries; });
}

PackableNodes find_packable_nodes(const Graph& graph, const std::function<bool(const ir::NodeView&)>& runs) {
  PackableNodes packable;
  find_mask(graph, runs, packable);
  if (!packable.attentions.empty()) PackingAnalysis(graph, packable).run();
  return packable;
}

}  // namespace tenon::passes
