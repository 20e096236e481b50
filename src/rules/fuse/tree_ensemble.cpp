// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees with what follows them. The trees of several ensembles on one input are trees of one ensemble, whose targets
// are side by side: a sum over leaves looks at one target at a time. A factor after an ensemble is a factor of its leaves.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_tree_ensemble {
using namespace rewrite;
using ir::Attribute;
using Attributes = std::vector<std::pair<std::string, Attribute>>;
namespace {

constexpr std::string_view kTrees = "ai.onnx.ml::TreeEnsembleRegressor";
constexpr std::string_view kTensor = "_as_tensor";

int64_t targets_of(const Node& trees) { return trees.attributes.integer("n_targets", 1); }

/// Numbers that are in an attribute, or as a tensor in the one of the same name with "_as_tensor" after it.
struct Numbers {
  std::vector<double> values;
  DType dtype = DType::none;  ///< of the tensor; none: plain floats, or no attribute
};

Numbers numbers_of(const Node& trees, std::string_view name) {
  Numbers out;
  for (float v : trees.attributes.floats(name)) out.values.push_back(v);
  const Attribute* a = trees.attributes.find(std::string(name) + std::string(kTensor));
  const Tensor* t = a ? std::get_if<Tensor>(a) : nullptr;
  if (t) out.dtype = t->dtype();
  for (int64_t i = 0; t && i < t->count(); ++i) out.values.push_back(t->number(i));
  return out;
}

/// Nothing where there are no numbers, or where there is no memory.
void add_numbers(Attributes& to, std::string_view name, const Numbers& numbers) {
  if (numbers.values.empty()) return;
  if (numbers.dtype == DType::none) {
    to.emplace_back(name, ir::Floats(numbers.values.begin(), numbers.values.end()));
    return;
  }
  auto tensor = Tensor::make(numbers.dtype, {static_cast<int64_t>(numbers.values.size())});
  if (!tensor) return;
  for (size_t i = 0; i < numbers.values.size(); ++i) tensor->set_number(static_cast<int64_t>(i), numbers.values[i]);
  to.emplace_back(std::string(name) + std::string(kTensor), std::move(*tensor));
}

struct Factor {
  NodeId trees;
  double factor;
};

/// A factor after what is taken together before anything else is done with it; the least and the largest change places below 0.
bool factor_after_trees(Match& m) {
  for (size_t side : {0, 1}) {
    const NodeId trees = m.producer(m.operand(m.root(), side), kTrees);
    const ValueId c = m.operand(m.root(), 1 - side);
    const auto factor = trees && m.is_constant(c) ? m.number(c) : std::nullopt;
    if (!factor) continue;
    m.take(trees);
    const ir::Attributes& how = m.node(trees).attributes;
    const std::string together = how.text("aggregate_function", "SUM");
    if (how.text("post_transform", "NONE") != "NONE") return m.refuse("the scores are transformed before");
    if (!std::isfinite(*factor) || (*factor < 0 && (together == "MIN" || together == "MAX")))
      return m.refuse("not finite, or it reverses the order");
    return m.same_type(m.result(trees), m.result(m.root())) && m.accept(Factor{trees, *factor});
  }
  return false;
}

bool into_leaves(const Match& m, Rewriter& w) {
  const Factor& found = m.state<Factor>();
  const Node& trees = m.node(found.trees);
  Attributes how = attributes_except(trees, {"target_weights", "target_weights_as_tensor", "base_values", "base_values_as_tensor"});
  for (std::string_view name : {"target_weights", "base_values"}) {
    Numbers numbers = numbers_of(trees, name);
    for (double& v : numbers.values) v *= found.factor;
    add_numbers(how, name, numbers);
  }
  return replace_root(m, w, w(kTrees, trees.inputs, std::move(how)));
}

struct JoinedTrees {
  std::vector<NodeId> trees;  ///< in the order of their targets
  bool sigmoid = false, rows = false;
};

/// One operand of the Concat: an ensemble that may be joined with `first`.
NodeId part(Match& m, ValueId value, JoinedTrees& found) {
  const NodeId sigmoid = m.producer(value, "Sigmoid"), trees = m.producer(sigmoid ? m.operand(sigmoid, 0) : value, kTrees);
  if (!trees || (!found.trees.empty() && found.sigmoid != bool(sigmoid))) return {};
  found.sigmoid = bool(sigmoid);
  for (NodeId node : {sigmoid, trees})
    if (node && std::ranges::find(m.nodes, node) == m.nodes.end()) m.take(node);
  const Node &first = m.node(found.trees.empty() ? trees : found.trees[0]), &n = m.node(trees);
  const auto text = [](const Node& x, std::string_view name, std::string_view otherwise) { return x.attributes.text(name, otherwise); };
  const bool fits = n.inputs[0] == first.inputs[0] && text(n, "aggregate_function", "SUM") == "SUM" &&
                    text(n, "post_transform", "NONE") == text(first, "post_transform", "NONE");
  const std::string after = text(n, "post_transform", "NONE");
  return fits && (after == "NONE" || after == "LOGISTIC" || after == "PROBIT") ? trees : NodeId{};
}

/// Numbers of one name: all plain, or all tensors of one dtype (where there are any).
bool of_one_kind(const Match& m, const JoinedTrees& found, std::string_view name) {
  DType dtype = DType::none;
  bool plain = false;
  for (NodeId trees : found.trees) {
    const Numbers numbers = numbers_of(m.node(trees), name);
    if (numbers.values.empty()) continue;
    if (numbers.dtype == DType::none) plain = true;
    if (numbers.dtype != DType::none && dtype != DType::none && numbers.dtype != dtype) return false;
    if (numbers.dtype != DType::none) dtype = numbers.dtype;
  }
  return !plain || dtype == DType::none;
}

bool operand_of_head_split(Match& m) {
  JoinedTrees found;
  const auto axis = m.axis(m.root(), "axis", 0, m.result(m.root()));
  if (!axis || m.rank(m.result(m.root())) != 2 || m.node(m.root()).inputs.size() < 2) return false;
  found.rows = *axis == 0;
  for (ValueId value : m.node(m.root()).inputs) {
    const NodeId trees = part(m, value, found);
    if (!trees) return m.refuse("the operands are not ensembles on one input that are put together alike");
    if (found.rows && targets_of(m.node(trees)) != 1) return m.refuse("rows of more than one target");
    found.trees.push_back(trees);
  }
  for (std::string_view name : {"nodes_values", "nodes_hitrates", "target_weights", "base_values"})
    if (!of_one_kind(m, found, name)) return m.refuse("numbers of different dtypes");
  return m.accept(std::move(found));
}

/// Lists one after the other; nothing where an ensemble lacks the list, unless `otherwise` is the value of its nodes then.
void join_ints(Attributes& to, const Match& m, const JoinedTrees& found, std::string_view name, std::optional<int64_t> otherwise = {}) {
  ir::Ints all;
  bool any = false;
  for (NodeId trees : found.trees) {
    const ir::Attributes& a = m.node(trees).attributes;
    ir::Ints own = a.ints(name);
    any |= !own.empty();
    if (own.empty() && otherwise) own.assign(a.ints("nodes_treeids").size(), *otherwise);
    all.insert(all.end(), own.begin(), own.end());
  }
  if (any) to.emplace_back(name, std::move(all));
}

/// The same for ids, which go on after those of the ensemble before: `count` returns how many an ensemble has.
template <class Count>
void join_ids(Attributes& to, const Match& m, const JoinedTrees& found, std::string_view name, Count count) {
  ir::Ints all;
  int64_t first = 0;
  for (NodeId trees : found.trees) {
    for (int64_t id : m.node(trees).attributes.ints(name)) all.push_back(first + id);
    first += count(m.node(trees));
  }
  to.emplace_back(name, std::move(all));
}

/// The same for numbers; `missing`: how many zeros replace those that an ensemble lacks, none where all go then.
template <class Missing>
void join_numbers(Attributes& to, const Match& m, const JoinedTrees& found, std::string_view name, Missing missing) {
  Numbers all;
  bool any = false;
  for (NodeId trees : found.trees) {
    Numbers own = numbers_of(m.node(trees), name);
    any |= !own.values.empty();
    if (own.dtype != DType::none) all.dtype = own.dtype;
    if (own.values.empty()) own.values.assign(static_cast<size_t>(missing(m.node(trees))), 0);
    all.values.insert(all.values.end(), own.values.begin(), own.values.end());
  }
  if (any) add_numbers(to, name, all);
}

int64_t tree_count(const Node& trees) {
  const ir::Ints ids = trees.attributes.ints("nodes_treeids");
  return ids.empty() ? 0 : *std::ranges::max_element(ids) + 1;
}

Attributes joined(const Match& m, const JoinedTrees& found) {
  const Node& first = m.node(found.trees[0]);
  Attributes how{{"post_transform", first.attributes.text("post_transform", "NONE")}};
  int64_t targets = 0;
  for (NodeId trees : found.trees) targets += targets_of(m.node(trees));
  how.emplace_back("n_targets", targets);
  ir::Strings modes;
  for (NodeId trees : found.trees)
    if (const Attribute* a = m.node(trees).attributes.find("nodes_modes"))
      if (const auto* own = std::get_if<ir::Strings>(a)) modes.insert(modes.end(), own->begin(), own->end());
  how.emplace_back("nodes_modes", std::move(modes));
  for (std::string_view name : {"nodes_falsenodeids", "nodes_truenodeids", "nodes_featureids", "nodes_nodeids", "target_nodeids"})
    join_ints(how, m, found, name);
  join_ints(how, m, found, "nodes_missing_value_tracks_true", 0);
  for (std::string_view name : {"nodes_treeids", "target_treeids"}) join_ids(how, m, found, name, tree_count);
  join_ids(how, m, found, "target_ids", targets_of);
  for (std::string_view name : {"nodes_values", "target_weights"}) join_numbers(how, m, found, name, [](const Node&) { return 0; });
  join_numbers(how, m, found, "nodes_hitrates", [](const Node& n) { return n.attributes.ints("nodes_nodeids").size(); });
  join_numbers(how, m, found, "base_values", targets_of);
  return how;
}

bool to_one_ensemble(const Match& m, Rewriter& w) {
  const JoinedTrees& found = m.state<JoinedTrees>();
  ValueId y = w(kTrees, m.node(found.trees[0]).inputs, joined(m, found));
  if (found.sigmoid) y = w("Sigmoid", {y});
  if (found.rows) y = w("Reshape", {w("Transpose", {y}, {{"perm", ir::Ints{1, 0}}}), w.ints({-1, 1})});
  return replace_root(m, w, y);
}

}  // namespace

RULES(fuse_tree_ensemble) {
    .sets = "ml",
    .rules =
        {
            {.name = "trees_side_by_side",
             .docs =
                 "ensembles of trees on one input, summed up and joined along an axis, are one ensemble (f32: summed up in another order)",
             .roots = "Concat",
             .match = operand_of_head_split,
             .rewrite = to_one_ensemble,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .covered_patterns = "TreeEnsembleRegressorConcat"},
            {.name = "trees_factor",
             .docs = "a factor after an ensemble of trees is a factor of its leaves and base values",
             .roots = "Mul",
             .match = factor_after_trees,
             .rewrite = into_leaves,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .covered_patterns = "TreeEnsembleRegressorMul"},
        },
};

}  // namespace tenon::rules::fuse_tree_ensemble
