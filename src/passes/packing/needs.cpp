// SPDX-License-Identifier: Apache-2.0
#include "passes/packing/needs.h"

#include <algorithm>

namespace tenon::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Use;
using ir::ValueId;

/// The mask that most attentions share, with those.
void find_mask(const Graph& graph, const std::function<bool(const ir::NodeView&)>& runs, Needs& needs) {
  std::unordered_map<ValueId, std::vector<MaskedAttention>> by_mask;
  size_t most = 0;
  for (NodeId n : graph.nodes()) {
    const auto found = masked_attention(graph, n);
    if (!found || !runs(graph.view(n))) continue;
    auto& list = by_mask[found->mask];
    list.push_back(*found);
    if (list.size() <= most) continue;
    most = list.size();
    needs.mask = found->mask;
    needs.padded = found->padded;
  }
  if (most > 0)
    for (MaskedAttention& a : by_mask[needs.mask]) needs.attentions.emplace(a.node, std::move(a));
}

/// Values that attention has a part in.
std::unordered_set<ValueId> values_after_attention(const Graph& graph, const Needs& needs) {
  std::unordered_set<ValueId> out;
  for (NodeId n : graph.nodes()) {
    const Node& node = graph.node(n);
    const bool is_after = needs.attentions.contains(n) || std::ranges::any_of(node.inputs, [&](ValueId v) { return v && out.contains(v); });
    if (is_after)
      for (ValueId v : node.outputs)
        if (v) out.insert(v);
  }
  return out;
}

class NeedsAnalysis {
 public:
  NeedsAnalysis(const Graph& graph, Needs& needs) : graph_(graph), needs_(needs), after_attention_(values_after_attention(graph, needs)) {}

  void run() {
    if (after_attention_.contains(needs_.mask)) return needs_.attentions.clear();
    for (NodeId n : graph_.nodes()) {
      if (auto parts = parts_of_row(graph_, n, needs_.padded)) needs_.row_ops.emplace(n, *std::move(parts));
      else if (auto places = picked_places(n)) needs_.picks.emplace(n, *std::move(places));
    }
    for (NodeId n = graph_.last(); n; n = graph_.previous(n)) {
      if (needs_.attentions.contains(n)) look_at_attention(n);
      else if (needs_.row_ops.contains(n)) look_at_rows(n);
    }
    std::erase_if(needs_.picks, [&](const auto& p) { return !is_packed(graph_.node(p.first).inputs[0]); });
  }

 private:
  bool is_packed(ValueId v) const {
    const NodeId maker = graph_.value(v).producer;
    if (!maker) return false;
    if (needs_.row_ops.contains(maker)) return true;
    const ValueId heads = graph_.node(maker).inputs.empty() ? ValueId{} : graph_.node(maker).inputs[0];
    const auto found = heads ? needs_.attentions.find(graph_.value(heads).producer) : needs_.attentions.end();
    return found != needs_.attentions.end() && found->second.all_rows_are_queries && std::ranges::count(found->second.rows, v) > 0;
  }

  /// Of a Gather of places that are known, from what attention has made: the rows that are kept must be known before.
  std::optional<ir::Ints> picked_places(NodeId n) const {
    const Node& node = graph_.node(n);
    if (!node.is("Gather") || node.attributes.integer("axis", 0) != 1 || node.placement()) return std::nullopt;
    if (!after_attention_.contains(node.inputs[0]) || !needs_.padded.has_rows(graph_.value(node.inputs[0]).type)) return std::nullopt;
    const Tensor* places = graph_.value(node.inputs[1]).is_constant() ? graph_.tensor_of(node.inputs[1]) : nullptr;
    if (!places || places->rank() > 1 || places->count() > 4) return std::nullopt;
    return integers_of(*places);
  }

  void look_at_attention(NodeId n) {
    const MaskedAttention& a = needs_.attentions.at(n);
    if (a.all_rows_are_queries && std::ranges::any_of(a.rows, [&](ValueId v) { return needs_hidden(v); })) needs_.attentions.erase(n);
  }

  void look_at_rows(NodeId n) {
    const Node& node = graph_.node(n);
    if (std::ranges::none_of(node.outputs, [&](ValueId v) { return v && needs_hidden(v); })) return;
    if (const ValueId weights = weights_of(n)) needs_.weighted.emplace(n, weights);
    else needs_.row_ops.erase(n);
  }

  /// The factor that says how much a row counts: known before attention, for what attention makes.
  ValueId weights_of(NodeId n) const {
    const Node& node = graph_.node(n);
    if (!node.is("Mul")) return {};
    for (size_t k = 0; k < 2; ++k) {
      const ValueId weights = node.inputs[k], rows = node.inputs[1 - k];
      const auto& parts = needs_.row_ops.at(n);
      if (parts[0] != Part::row || parts[1] != Part::row || after_attention_.contains(weights) || !after_attention_.contains(rows))
        continue;
      if (graph_.value(weights).type.rank() > 2 && graph_.value(weights).type.dim(-1).known_equal(1)) return weights;
    }
    return {};
  }

  /// Whether somebody reads rows that the mask hides.
  bool needs_hidden(ValueId v) const {
    return std::ranges::any_of(graph_.value(v).uses, [&](const Use& use) { return use.is_output() || !is_content(use); });
  }

  bool is_content(const Use& use) const {
    if (needs_.picks.contains(use.node)) return use.slot == 0;
    if (const auto op = needs_.row_ops.find(use.node); op != needs_.row_ops.end())
      return use.slot < op->second.size() && op->second[use.slot] == Part::row;
    return is_transposed_for_attention(use);
  }

  /// Heads transposed for attention that reads rows which are not hidden.
  bool is_transposed_for_attention(const Use& use) const {
    const Node& transpose = graph_.node(use.node);
    if (!transpose.is("Transpose")) return false;
    return std::ranges::all_of(graph_.value(transpose.outputs[0]).uses,
                               [&](const Use& u) { return !u.is_output() && needs_.attentions.contains(u.node) && u.slot < 3; });
  }

  const Graph& graph_;
  Needs& needs_;
  std::unordered_set<ValueId> after_attention_;
};

}  // namespace

bool Needs::is_profitable() const {
  return std::ranges::any_of(attentions, [](const auto& a) { return a.second.all_rows_are_queries; });
}

Needs needs_of(const Graph& graph, const std::function<bool(const ir::NodeView&)>& runs) {
  Needs needs;
  find_mask(graph, runs, needs);
  if (!needs.attentions.empty()) NeedsAnalysis(graph, needs).run();
  return needs;
}

}  // namespace tenon::passes
