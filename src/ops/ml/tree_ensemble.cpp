// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/ml/forest.h"
#include "ops/ml/scores_kernel.h"

namespace tenon::ops::op_tree_ensemble {

namespace {

Ints listed(const NodeView& view, std::string_view name) {
  const ir::Attribute* a = view.attributes->find(name);
  if (const Tensor* t = a ? std::get_if<Tensor>(a) : nullptr) return integers_of(*t);
  return view.attributes->ints(name);
}

std::vector<double> tensor_of(const NodeView& view, std::string_view name) {
  const ir::Attribute* a = view.attributes->find(name);
  const Tensor* t = a ? std::get_if<Tensor>(a) : nullptr;
  return t ? numbers_of(*t) : std::vector<double>();
}

/// The values up to the next NaN, the set that a BRANCH_MEMBER node tests; `at` moves after the NaN.
std::vector<double> next_members(const std::vector<double>& values, size_t& at) {
  std::vector<double> out;
  while (at < values.size() && !std::isnan(values[at])) out.push_back(values[at++]);
  ++at;
  return out;
}

/// ONNX has lists of their own for leaves; here they follow the inner nodes.
Result<Forest> forest_of(const NodeView& view) {
  const Ints modes = listed(view, "nodes_modes"), features = listed(view, "nodes_featureids"), yes = listed(view, "nodes_truenodeids"),
             no = listed(view, "nodes_falsenodeids"), yes_leaf = listed(view, "nodes_trueleafs"),
             no_leaf = listed(view, "nodes_falseleafs"), targets = listed(view, "leaf_targetids");
  Ints missing = listed(view, "nodes_missing_value_tracks_true");
  const std::vector<double> splits = tensor_of(view, "nodes_splits"), weights = tensor_of(view, "leaf_weights"),
                            members = tensor_of(view, "membership_values");
  const size_t inner = modes.size(), leaves = weights.size();
  if (missing.empty()) missing.assign(inner, 0);
  for (size_t size : {features.size(), yes.size(), no.size(), yes_leaf.size(), no_leaf.size(), splits.size(), missing.size()})
    if (size != inner)
      return refuse(view, Code::bad_attribute, "lists of the nodes differ in length")
          .expected(std::to_string(inner))
          .found(std::to_string(size));
  if (targets.size() != leaves) return refuse(view, Code::bad_attribute, "leaf_targetids and leaf_weights differ in length");
  const auto place = [&](int64_t id, int64_t is_leaf) -> Result<int64_t> {
    const auto most = static_cast<int64_t>(is_leaf ? leaves : inner);
    if (id < 0 || id >= most) return refuse(view, Code::bad_attribute, "a branch to a node that does not exist").found(std::to_string(id));
    return is_leaf ? id + static_cast<int64_t>(inner) : id;
  };
  Forest forest;
  size_t member = 0;
  for (size_t k = 0; k < inner; ++k) {
    if (modes[k] < 0 || modes[k] > static_cast<int64_t>(Branch::member))
      return refuse(view, Code::bad_attribute, "unknown mode of a node").expected("0 to 6").found(std::to_string(modes[k]));
    Forest::Node node{.mode = static_cast<Branch>(modes[k]), .feature = features[k], .value = splits[k], .members = {}};
    node.missing_is_true = missing[k] != 0;
    node.true_child = TRY(place(yes[k], yes_leaf[k]));
    node.false_child = TRY(place(no[k], no_leaf[k]));
    if (node.mode == Branch::member) node.members = next_members(members, member);
    forest.nodes.push_back(std::move(node));
  }
  for (size_t k = 0; k < leaves; ++k) {
    forest.nodes.push_back({.members = {}, .first_weight = k, .weights = 1});
    forest.weights.push_back({targets[k], weights[k]});
  }
  forest.roots = listed(view, "tree_roots");
  for (int64_t& root : forest.roots) root = TRY(place(root, 0));
  if (forest.roots.empty()) return refuse(view, Code::bad_attribute, "there is no tree");
  return forest;
}

/// The value of an enumeration that attribute `name` gives as a number.
template <class E>
Result<E> choice(const NodeView& view, std::string_view name, int64_t otherwise, E last) {
  const int64_t n = view.attributes->integer(name, otherwise);
  if (n < 0 || n > static_cast<int64_t>(last))
    return refuse(view, Code::bad_attribute, "unknown " + std::string(name)).found(std::to_string(n));
  return static_cast<E>(n);
}

Result<void> require_input_type(const NodeView& view, std::string_view name) {
  const ir::Attribute* a = view.attributes->find(name);
  const Tensor* t = a ? std::get_if<Tensor>(a) : nullptr;
  if (!t || dtype_of(view, 0) == DType::none || t->dtype() == dtype_of(view, 0)) return {};
  return refuse(view, Code::dtype_mismatch, std::string(name) + " must have the type of X")
      .expected(std::string(name_of(dtype_of(view, 0))))
      .found(std::string(name_of(t->dtype())));
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 1, 2));
  TRY(choice(view, "aggregate_function", 1, Aggregate::most));
  TRY(choice(view, "post_transform", 0, PostTransform::probit));
  TRY(forest_of(view));
  for (std::string_view name : {"nodes_splits", "leaf_weights"}) TRY(require_input_type(view, name));
  const int64_t targets = view.attributes->integer("n_targets", 1);
  if (targets < 1) return refuse(view, Code::bad_attribute, "at least one target is needed").found(std::to_string(targets));
  Type type(dtype_of(view, 0));
  if (const auto rows = samples_of(view)) type.shape = DimList{*rows, Dim(targets)};
  set_output(view, 0, std::move(type));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const Forest forest = TRY(forest_of(call.view));
  TRY(forest.check_features(call.view, f.columns));
  const Aggregate aggregate = TRY(choice(call.view, "aggregate_function", 1, Aggregate::most));
  const PostTransform how = TRY(choice(call.view, "post_transform", 0, PostTransform::probit));
  const int64_t targets = call.view.attributes->integer("n_targets", 1);
  Tensor& y = *TRY(call.make(0, {f.rows, targets}));
  for (int64_t n = 0; n < f.rows; ++n) {
    LeafScores leaves = TRY(leaf_scores(call.view, forest, f.row(n), targets, aggregate));
    transform(how, leaves.scores);
    for (int64_t t = 0; t < targets; ++t) y.set_number(n * targets + t, leaves.scores[static_cast<size_t>(t)]);
  }
  return {};
}

Result<std::unique_ptr<const HostKernel>> host_kernel(const NodeView& view) {
  auto kernel = std::make_unique<ScoresKernel>();
  kernel->targets = view.attributes->integer("n_targets", 1);
  const Aggregate aggregate = TRY(choice(view, "aggregate_function", 1, Aggregate::most));
  kernel->forest = TRY(FlatForest::make(view, TRY(forest_of(view)), kernel->targets, aggregate));
  kernel->how = TRY(choice(view, "post_transform", 0, PostTransform::probit));
  kernel->dtype = dtype_of(view, 0);
  return kernel;
}

}  // namespace

OP(tree_ensemble) {
    .name = "TreeEnsemble",
    .domain = "ai.onnx.ml",
    .since_version = 5,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"aggregate_function: int = 1", "leaf_targetids: ints!", "leaf_weights: tensor!", "membership_values: tensor",
                    "n_targets: int", "nodes_falseleafs: ints!", "nodes_falsenodeids: ints!", "nodes_featureids: ints!",
                    "nodes_hitrates: tensor", "nodes_missing_value_tracks_true: ints", "nodes_modes: tensor!", "nodes_splits: tensor!",
                    "nodes_trueleafs: ints!", "nodes_truenodeids: ints!", "post_transform: int = 0", "tree_roots: ints!"}},
    .infer = infer,
    .reference = evaluate,
    .host_kernel = host_kernel,
    .first_opset = 5,
    .samples =
        {{"f32[4,2]; nodes_modes=u8[2] = [0, 3], nodes_splits=f32[2] = [0.5, -0.5], nodes_featureids=[0,1], nodes_truenodeids=[0,1], "
          "nodes_falsenodeids=[1,2], nodes_trueleafs=[1,1], nodes_falseleafs=[0,1], leaf_targetids=[0,1,0], "
          "leaf_weights=f32[3] = [1.5, 2.5, -1.0], tree_roots=[0], n_targets=2",
          "f64[4,2] in -1..3; nodes_modes=u8[1] = [6], nodes_splits=f64[1] = [0], nodes_featureids=[0], nodes_truenodeids=[0], "
          "nodes_falsenodeids=[1], nodes_trueleafs=[1], nodes_falseleafs=[1], leaf_targetids=[0,0], leaf_weights=f64[2] = [1, 2], "
          "membership_values=f64[3] = [1, 2, nan], tree_roots=[0], n_targets=1"}},
};

}  // namespace tenon::ops::op_tree_ensemble
