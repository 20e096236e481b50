// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/forest.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/core/refuse.h"

namespace tenon::ops {

namespace {

bool test_holds(const Forest::Node& n, double x) {
  if (std::isnan(x)) return n.missing_is_true;
  switch (n.mode) {
    case Branch::leq: return x <= n.value;
    case Branch::lt: return x < n.value;
    case Branch::gte: return x >= n.value;
    case Branch::gt: return x > n.value;
    case Branch::eq: return x == n.value;
    case Branch::neq: return x != n.value;
    case Branch::member: return std::ranges::find(n.members, x) != n.members.end();
    case Branch::leaf: break;
  }
  return false;
}

Result<Branch> branch_named(const NodeView& view, const std::string& name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
  if (name == "LEAF") return Branch::leaf;
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames)) return refuse(view, Code::bad_attribute, "unknown mode of a node").found(name);
  return static_cast<Branch>(at - std::begin(kNames));
}

using Key = std::pair<int64_t, int64_t>;  ///< tree, node in it

/// The attributes of the trees' nodes: lists of one length, an element for each tree node.
struct NodeLists {
  Ints trees, ids, features, yes, no, missing;
  std::vector<double> values;
  ir::Strings modes;
};

Result<NodeLists> node_lists(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  NodeLists l{a.ints("nodes_treeids"),         a.ints("nodes_nodeids"),
              a.ints("nodes_featureids"),      a.ints("nodes_truenodeids"),
              a.ints("nodes_falsenodeids"),    a.ints("nodes_missing_value_tracks_true"),
              floats_of(view, "nodes_values"), {}};
  if (const ir::Attribute* modes = a.find("nodes_modes")) l.modes = std::get<ir::Strings>(*modes);
  const size_t count = l.ids.size();
  if (l.missing.empty()) l.missing.assign(count, 0);
  for (size_t size : {l.trees.size(), l.features.size(), l.yes.size(), l.no.size(), l.missing.size(), l.values.size(), l.modes.size()})
    if (size != count || count == 0)
      return refuse(view, Code::bad_attribute, "lists of the nodes differ in length")
          .expected(std::to_string(count) + " as nodes_nodeids")
          .found(std::to_string(size));
  return l;
}

/// Node by node.
void store_weights(const std::vector<std::vector<Forest::Weight>>& of_node, Forest& forest) {
  for (size_t k = 0; k < of_node.size(); ++k) {
    forest.nodes[k].first_weight = forest.weights.size();
    forest.nodes[k].weights = of_node[k].size();
    forest.weights.insert(forest.weights.end(), of_node[k].begin(), of_node[k].end());
  }
}

Result<void> add_weights(const NodeView& view, std::string_view prefix, const std::map<Key, int64_t>& node_numbers, Forest& forest) {
  const std::string p(prefix);
  const ir::Attributes& a = *view.attributes;
  const Ints trees = a.ints(p + "_treeids"), ids = a.ints(p + "_nodeids"), targets = a.ints(p + "_ids");
  const std::vector<double> values = floats_of(view, p + "_weights");
  if (trees.size() != ids.size() || targets.size() != ids.size() || values.size() != ids.size())
    return refuse(view, Code::bad_attribute, "lists of the weights differ in length").found(std::to_string(values.size()) + " weights");
  std::vector<std::vector<Forest::Weight>> of_node(forest.nodes.size());
  for (size_t k = 0; k < ids.size(); ++k) {
    const auto at = node_numbers.find({trees[k], ids[k]});
    if (at == node_numbers.end())
      return refuse(view, Code::bad_attribute, "a weight of a node that does not exist").found(std::to_string(ids[k]));
    of_node[static_cast<size_t>(at->second)].push_back({targets[k], values[k]});
  }
  store_weights(of_node, forest);
  return {};
}

}  // namespace

std::vector<double> floats_of(const NodeView& view, std::string_view name) {
  if (const ir::Attribute* a = view.attributes->find(std::string(name) + "_as_tensor")) return numbers_of(std::get<Tensor>(*a));
  const ir::Floats values = view.attributes->floats(name);
  return {values.begin(), values.end()};
}

Result<Forest> forest_of(const NodeView& view, std::string_view weights) {
  const NodeLists l = TRY(node_lists(view));
  Forest forest;
  std::map<Key, int64_t> node_numbers;
  std::set<int64_t> begun;
  for (size_t k = 0; k < l.ids.size(); ++k) {
    if (begun.insert(l.trees[k]).second) forest.roots.push_back(static_cast<int64_t>(k));
    if (!node_numbers.emplace(Key(l.trees[k], l.ids[k]), static_cast<int64_t>(k)).second)
      return refuse(view, Code::bad_attribute, "two nodes of a tree have one id").found(std::to_string(l.ids[k]));
  }
  for (size_t k = 0; k < l.ids.size(); ++k) {
    Forest::Node node{.mode = TRY(branch_named(view, l.modes[k])), .feature = l.features[k], .value = l.values[k], .members = {}};
    node.missing_is_true = l.missing[k] != 0;
    if (node.mode != Branch::leaf) {
      for (auto [id, place] : {std::pair(l.yes[k], &node.true_child), std::pair(l.no[k], &node.false_child)}) {
        const auto at = node_numbers.find({l.trees[k], id});
        if (at == node_numbers.end())
          return refuse(view, Code::bad_attribute, "a branch to a node that does not exist").found(std::to_string(id));
        *place = at->second;
      }
    }
    forest.nodes.push_back(std::move(node));
  }
  TRY(add_weights(view, weights, node_numbers, forest));
  return forest;
}

Result<void> Forest::check_features(const NodeView& view, int64_t features) const {
  for (const Node& n : nodes)
    if (n.mode != Branch::leaf && (n.feature < 0 || n.feature >= features))
      return refuse(view, Code::index_out_of_range, "a node tests a feature that the sample lacks")
          .expected("below " + std::to_string(features))
          .found(std::to_string(n.feature));
  return {};
}

Result<const Forest::Node*> Forest::leaf(const NodeView& view, int64_t root, std::span<const double> sample) const {
  const Node* n = &nodes[static_cast<size_t>(root)];
  for (size_t steps = 0; n->mode != Branch::leaf; ++steps) {
    if (steps > nodes.size()) return refuse(view, Code::bad_attribute, "the nodes of a tree form a circle");
    n = &nodes[static_cast<size_t>(test_holds(*n, sample[static_cast<size_t>(n->feature)]) ? n->true_child : n->false_child)];
  }
  return n;
}

Result<LeafScores> leaf_scores(const NodeView& view, const Forest& forest, std::span<const double> sample, int64_t targets, Aggregate how) {
  LeafScores leaves{std::vector<double>(static_cast<size_t>(targets)), std::vector<bool>(static_cast<size_t>(targets))};
  for (int64_t root : forest.roots) {
    const Forest::Node* leaf = TRY(forest.leaf(view, root, sample));
    for (size_t w = leaf->first_weight; w < leaf->first_weight + leaf->weights; ++w) {
      const auto [target, value] = forest.weights[w];
      if (target < 0 || target >= targets)
        return refuse(view, Code::index_out_of_range, "a weight of a target that does not exist").found(std::to_string(target));
      const auto t = static_cast<size_t>(target);
      double& score = leaves.scores[t];
      if (how == Aggregate::sum || how == Aggregate::average) score += value;
      else score = !leaves.seen[t] ? value : how == Aggregate::least ? std::min(score, value) : std::max(score, value);
      leaves.seen[t] = true;
    }
  }
  if (how == Aggregate::average)
    for (double& s : leaves.scores) s /= static_cast<double>(forest.roots.size());
  return leaves;
}

}  // namespace tenon::ops
