// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/refuse.h"
#include "ops/ml/forest.h"
#include "ops/ml/scores_kernel.h"

namespace tenon::ops::op_tree_ensemble_regressor {

namespace {

Result<Aggregate> aggregate_of(const NodeView& view) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = view.attributes->text("aggregate_function", "SUM");
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames))
    return refuse(view, Code::bad_attribute, "unknown aggregate_function").expected("AVERAGE, SUM, MIN or MAX").found(name);
  return static_cast<Aggregate>(at - std::begin(kNames));
}

Result<void> infer(NodeView& view) {
  const int64_t targets = view.attributes->integer("n_targets", 1);
  TRY(infer_regressor(view, targets));
  TRY(aggregate_of(view));
  TRY(forest_of(view, "target"));
  const size_t base = floats_of(view, "base_values").size();
  if (base != 0 && static_cast<int64_t>(base) != targets)
    return refuse(view, Code::bad_attribute, "one base value a target is needed")
        .expected(std::to_string(targets))
        .found(std::to_string(base));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const PostTransform how = TRY(post_transform_of(call.view));
  const Aggregate aggregate = TRY(aggregate_of(call.view));
  const Forest forest = TRY(forest_of(call.view, "target"));
  const std::vector<double> base = floats_of(call.view, "base_values");
  TRY(forest.check_features(call.view, f.columns));
  const int64_t targets = call.view.attributes->integer("n_targets", 1);
  Tensor& y = *TRY(call.make(0, {f.rows, targets}));
  for (int64_t n = 0; n < f.rows; ++n) {
    LeafScores leaves = TRY(leaf_scores(call.view, forest, f.row(n), targets, aggregate));
    for (size_t t = 0; t < base.size(); ++t) leaves.scores[t] += base[t];
    transform(how, leaves.scores);
    for (int64_t t = 0; t < targets; ++t) y.set_number(n * targets + t, leaves.scores[static_cast<size_t>(t)]);
  }
  return {};
}

Result<std::unique_ptr<const HostKernel>> host_kernel(const NodeView& view) {
  auto kernel = std::make_unique<ScoresKernel>();
  kernel->targets = view.attributes->integer("n_targets", 1);
  kernel->forest = TRY(FlatForest::make(view, TRY(forest_of(view, "target")), kernel->targets, TRY(aggregate_of(view))));
  kernel->base = floats_of(view, "base_values");
  kernel->how = TRY(post_transform_of(view));
  return kernel;
}

}  // namespace

OP(tree_ensemble_regressor) {
    .name = "TreeEnsembleRegressor",
    .domain = "ai.onnx.ml",
    .since_version = 3,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {.array = concatenated<literals<"aggregate_function: string = SUM", "base_values: floats",
                                                  "base_values_as_tensor: tensor", "n_targets: int">,
                                         kForestAttributes,
                                         literals<"target_ids: ints", "target_nodeids: ints", "target_treeids: ints",
                                                  "target_weights: floats", "target_weights_as_tensor: tensor">>},
    .infer = infer,
    .reference = evaluate,
    .host_kernel = host_kernel,
    .first_opset = 1,
    .samples = {{"f32[5,2]; nodes_treeids=[0,0,0,1,1,1], nodes_nodeids=[0,1,2,0,1,2], "
                 "nodes_modes=[BRANCH_LEQ,LEAF,LEAF,BRANCH_GT,LEAF,LEAF], nodes_values=[0.5,0.0,0.0,-0.5,0.0,0.0], "
                 "nodes_featureids=[0,0,0,1,0,0], nodes_truenodeids=[1,0,0,1,0,0], nodes_falsenodeids=[2,0,0,2,0,0], "
                 "target_treeids=[0,0,1,1], target_nodeids=[1,2,1,2], target_ids=[0,0,0,0], target_weights=[0.25,-1.0,2.0,0.5], "
                 "base_values=[0.125], n_targets=1",
                 "f32[5,2]; nodes_treeids=[0,0,0,1,1,1], nodes_nodeids=[0,1,2,0,1,2], "
                 "nodes_modes=[BRANCH_LT,LEAF,LEAF,BRANCH_GTE,LEAF,LEAF], nodes_values=[0.5,0.0,0.0,-0.5,0.0,0.0], "
                 "nodes_featureids=[0,0,0,1,0,0], nodes_truenodeids=[1,0,0,1,0,0], nodes_falsenodeids=[2,0,0,2,0,0], "
                 "target_treeids=[0,0,1,1], target_nodeids=[1,2,1,2], target_ids=[0,1,1,0], target_weights=[0.25,-1.0,2.0,0.5], "
                 "aggregate_function=AVERAGE, n_targets=2",
                 "f32[130,2]; nodes_treeids=[0,0,0,1,1,1], nodes_nodeids=[0,1,2,0,1,2], "
                 "nodes_modes=[BRANCH_LEQ,LEAF,LEAF,BRANCH_LEQ,LEAF,LEAF], nodes_values=[0.5,0.0,0.0,-0.5,0.0,0.0], "
                 "nodes_featureids=[0,0,0,1,0,0], nodes_truenodeids=[1,0,0,1,0,0], nodes_falsenodeids=[2,0,0,2,0,0], "
                 "target_treeids=[0,0,1,1], target_nodeids=[1,2,1,2], target_ids=[0,1,1,0], target_weights=[0.25,-1.0,2.0,0.5], "
                 "aggregate_function=MIN, n_targets=2",
                 "f32[6,2] = [1, 2, nan, -1, 3, nan, nan, nan, inf, 2, -inf, 0.5]; nodes_treeids=[0,0,0,1,1,1], "
                 "nodes_nodeids=[0,1,2,0,1,2], nodes_modes=[BRANCH_NEQ,LEAF,LEAF,BRANCH_EQ,LEAF,LEAF], "
                 "nodes_values=[1.0,0.0,0.0,2.0,0.0,0.0], nodes_featureids=[0,0,0,1,0,0], nodes_truenodeids=[1,0,0,1,0,0], "
                 "nodes_falsenodeids=[2,0,0,2,0,0], nodes_missing_value_tracks_true=[1,0,0,0,0,0], target_treeids=[0,0,1,1], "
                 "target_nodeids=[1,2,1,2], target_ids=[0,0,0,0], target_weights=[2.5,-1.0,2.0,0.5], aggregate_function=MAX, n_targets=1"}},
};

}  // namespace tenon::ops::op_tree_ensemble_regressor
