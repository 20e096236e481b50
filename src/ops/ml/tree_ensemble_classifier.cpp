// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/core/refuse.h"
#include "ops/ml/flat_forest.h"
#include "ops/ml/forest.h"

namespace tenon::ops::op_tree_ensemble_classifier {

namespace {

/// Two classes where leaves have weights of one class only: its score decides, with threshold 0.5 where no weight is negative, else 0.
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

/// Labels and scores from the sums of the leaves' weights.
struct Classes {
  Labels labels;
  std::vector<double> base;
  PostTransform how = PostTransform::none;
  Decision decision;
  bool second = false;  ///< decision.one_score: the score is that of the second class

  int64_t count() const { return labels.count(); }
  /// Writes label and scores of sample `n`; `z` may be null.
  void store(std::span<const double> sums, int64_t n, Tensor& y, Tensor* z) const;
};

Result<Classes> classes_of(const NodeView& view, const Forest& forest) {
  Classes c{TRY(labels_of(view, "classlabels_int64s")), floats_of(view, "base_values"), TRY(post_transform_of(view)), {}};
  c.decision = TRY(decision_of(view, forest, c.count(), c.base.size()));
  c.second = c.decision.one_score && !forest.weights.empty() && forest.weights[0].target == 1;
  if (c.decision.one_score && !c.second) TRY(refuse_probit_of_one_score(view, c.how));
  return c;
}

Result<void> infer(NodeView& view) {
  TRY(infer_classifier(view, "classlabels_int64s"));
  const Forest forest = TRY(forest_of(view, "class"));
  TRY(classes_of(view, forest));
  return {};
}

void Classes::store(std::span<const double> sums, int64_t n, Tensor& y, Tensor* z) const {
  std::vector<double> scores(sums.begin(), sums.end());
  for (size_t k = 0; k < base.size(); ++k) scores[k] += base[k];
  const double one = scores[second ? 1 : 0];
  labels.store(y, n, decision.one_score ? one > (decision.positive ? 0.5 : 0) : argmax(scores));
  if (decision.one_score && !second) scores = two_scores(one, decision.positive, how);
  else transform(how, scores);
  for (int64_t k = 0; z && k < count(); ++k) z->set_number(n * count() + k, scores[static_cast<size_t>(k)]);
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const Forest forest = TRY(forest_of(call.view, "class"));
  const Classes classes = TRY(classes_of(call.view, forest));
  TRY(forest.check_features(call.view, f.columns));
  Tensor& y = *TRY(call.make(0, {f.rows}));
  Tensor* z = call.out.size() > 1 ? TRY(call.make(1, {f.rows, classes.count()})) : nullptr;
  for (int64_t n = 0; n < f.rows; ++n)
    classes.store(TRY(leaf_scores(call.view, forest, f.row(n), classes.count(), Aggregate::sum)).scores, n, y, z);
  return {};
}

struct ClassifierKernel final : HostKernel {
  FlatForest forest;
  Classes classes;

  Result<void> run(std::span<const Tensor* const> in, std::vector<Tensor>& out) const override {
    const int64_t samples = in[0]->rank() == 1 ? 1 : in[0]->shape()[0];
    out[0] = TRY(Tensor::make(classes.labels.dtype(), {samples}));
    if (out.size() > 1) out[1] = TRY(Tensor::make(DType::f32, {samples, classes.count()}));
    Tensor* z = out.size() > 1 ? &out[1] : nullptr;
    return forest.run(*in[0], [&](int64_t n, std::span<double> sums) { classes.store(sums, n, out[0], z); });
  }
};

Result<std::unique_ptr<const HostKernel>> host_kernel(const NodeView& view) {
  auto kernel = std::make_unique<ClassifierKernel>();
  const Forest forest = TRY(forest_of(view, "class"));
  kernel->classes = TRY(classes_of(view, forest));
  kernel->forest = TRY(FlatForest::make(view, forest, kernel->classes.count(), Aggregate::sum));
  return kernel;
}

}  // namespace

OP(tree_ensemble_classifier) {
    .name = "TreeEnsembleClassifier",
    .domain = "ai.onnx.ml",
    .since_version = 3,
    .inputs = {{"X"}},
    .outputs = {{"Y", "Z"}},
    .attributes = {.array =
                       concatenated<literals<"base_values: floats", "base_values_as_tensor: tensor", "class_ids: ints",
                                             "class_nodeids: ints", "class_treeids: ints", "class_weights: floats",
                                             "class_weights_as_tensor: tensor", "classlabels_int64s: ints", "classlabels_strings: strings">,
                                    kForestAttributes>},
    .infer = infer,
    .reference = evaluate,
    .host_kernel = host_kernel,
    .first_opset = 1,
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
