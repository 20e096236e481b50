// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/infer/refuse.h"
#include "ops/ml/forest.h"

namespace tenon::ops::op_tree_ensemble_classifier {

namespace {

/// Two classes of which the leaves weigh one alone: its score decides between both, at 0.5 where no weight is negative, else at 0.
struct Decision {
  bool one_score = false, positive = false;
};

Result<Decision> decision_of(const NodeView& view, const Forest& forest, int64_t labels, size_t base) {
  const bool first_only = std::ranges::all_of(forest.weights, [](const Forest::Weight& w) { return w.target == 0; });
  const bool second_only = std::ranges::all_of(forest.weights, [](const Forest::Weight& w) { return w.target == 1; });
  const Decision d{labels == 2 && (first_only || second_only),
                   std::ranges::all_of(forest.weights, [](const Forest::Weight& w) { return w.value >= 0; })};
  if (base != 0 && static_cast<int64_t>(base) != labels && !(d.one_score && base == 1))
    return refuse(view, Code::bad_attribute, "one base value a class is needed")
        .expected(std::to_string(labels))
        .found(std::to_string(base));
  if (d.one_score && second_only && !first_only && base != 0)
    return refuse(view, Code::not_supported, "not supported yet: base values where all weights are of the second class");
  if (d.one_score && base == 2)
    return refuse(view, Code::not_supported, "not supported yet: two base values where all weights are of one class");
  return d;
}

Result<void> infer(NodeView& view) {
  TRY(infer_classifier(view, "classlabels_int64s"));
  const Forest forest = TRY(forest_of(view, "class"));
  TRY(decision_of(view, forest, TRY(labels_of(view, "classlabels_int64s")).count(), floats_of(view, "base_values").size()));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const PostTransform how = TRY(post_transform_of(call.view));
  const Forest forest = TRY(forest_of(call.view, "class"));
  const Labels labels = TRY(labels_of(call.view, "classlabels_int64s"));
  const std::vector<double> base = floats_of(call.view, "base_values");
  const int64_t count = labels.count();
  const Decision decision = TRY(decision_of(call.view, forest, count, base.size()));
  const bool second = decision.one_score && !forest.weights.empty() && forest.weights[0].target == 1;
  Tensor& y = *TRY(call.make(0, {f.rows}));
  Tensor* z = call.out.size() > 1 ? TRY(call.make(1, {f.rows, count})) : nullptr;
  for (int64_t n = 0; n < f.rows; ++n) {
    std::vector<double> scores = TRY(votes_of(call.view, forest, f.row(n), count, Aggregate::sum)).scores;
    for (size_t k = 0; k < base.size(); ++k) scores[k] += base[k];
    const double one = scores[second ? 1 : 0];
    labels.store(y, n, decision.one_score ? one > (decision.positive ? 0.5 : 0) : best_of(scores));
    if (decision.one_score && !second) scores = TRY(two_scores(call.view, one, decision.positive, how));
    else transform(how, scores);
    for (int64_t k = 0; z && k < count; ++k) z->set_number(n * count + k, scores[static_cast<size_t>(k)]);
  }
  return {};
}

}  // namespace

OP(tree_ensemble_classifier) {
    .name = "TreeEnsembleClassifier",
    .domain = "ai.onnx.ml",
    .since = 3,
    .inputs = {{"X"}},
    .outputs = {{"Y", "Z"}},
    .attributes = {.made = together<names<"base_values: floats", "base_values_as_tensor: tensor", "class_ids: ints", "class_nodeids: ints",
                                          "class_treeids: ints", "class_weights: floats", "class_weights_as_tensor: tensor",
                                          "classlabels_int64s: ints", "classlabels_strings: strings">,
                                    kForestAttributes>},
    .infer = infer,
    .reference = evaluate,
    .first = 1,
    .samples =
        {{"f32[5,2]; nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_modes=[BRANCH_LEQ,LEAF,LEAF], nodes_values=[0.5,0.0,0.0], "
          "nodes_featureids=[0,0,0], nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], class_treeids=[0,0], class_nodeids=[1,2], "
          "class_ids=[0,0], class_weights=[0.3,0.7], classlabels_int64s=[7,9], outputs=2",
          "f32[5,2]; nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_modes=[BRANCH_LEQ,LEAF,LEAF], nodes_values=[0.5,0.0,0.0], "
          "nodes_featureids=[0,0,0], nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], class_treeids=[0,0], class_nodeids=[1,2], "
          "class_ids=[0,0], class_weights=[-0.3,0.7], base_values=[0.125], classlabels_int64s=[7,9], post_transform=LOGISTIC, outputs=2",
          "f32[5,2]; nodes_treeids=[0,0,0], nodes_nodeids=[0,1,2], nodes_modes=[BRANCH_LEQ,LEAF,LEAF], nodes_values=[0.5,0.0,0.0], "
          "nodes_featureids=[0,0,0], nodes_truenodeids=[1,0,0], nodes_falsenodeids=[2,0,0], class_treeids=[0,0,0], "
          "class_nodeids=[1,2,2], class_ids=[0,1,2], class_weights=[0.7,-0.2,0.3], base_values=[0.1,0.2,0.3], "
          "classlabels_int64s=[7,9,11], post_transform=SOFTMAX, outputs=2"}},
};

}  // namespace tenon::ops::op_tree_ensemble_classifier
