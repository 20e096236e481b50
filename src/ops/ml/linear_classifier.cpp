// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_linear_classifier {

namespace {

/// The number of scores, which have an intercept each; one score may decide between two classes.
int64_t scores_of(const NodeView& view) { return static_cast<int64_t>(view.attributes->floats("intercepts").size()); }

Result<void> infer(NodeView& view) {
  TRY(infer_classifier(view, "classlabels_ints"));
  const int64_t labels = TRY(labels_of(view, "classlabels_ints")).count(), scores = scores_of(view);
  const auto count = static_cast<int64_t>(view.attributes->floats("coefficients").size());
  if (scores != labels && !(scores == 1 && labels == 2))
    return refuse(view, Code::bad_attribute, "intercepts do not fit the labels")
        .expected(std::to_string(labels) + (labels == 2 ? " or 1" : ""))
        .found(std::to_string(scores));
  if (count == 0 || count % scores != 0)
    return refuse(view, Code::bad_attribute, "coefficients do not fit the intercepts")
        .expected("a row of coefficients for each of " + std::to_string(scores))
        .found(std::to_string(count));
  if (view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), Dim(count / scores), "features and coefficients"));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const PostTransform how = TRY(post_transform_of(call.view));
  const Labels labels = TRY(labels_of(call.view, "classlabels_ints"));
  const ir::Floats weights = call.view.attributes->floats("coefficients"), intercepts = call.view.attributes->floats("intercepts");
  const int64_t scores = scores_of(call.view);
  if (f.columns * scores != static_cast<int64_t>(weights.size()))
    return refuse(call.view, Code::shape_mismatch, "a wrong number of features");
  Tensor& y = *TRY(call.make(0, {f.rows}));
  Tensor* z = call.out.size() > 1 ? TRY(call.make(1, {f.rows, labels.count()})) : nullptr;
  for (int64_t n = 0; n < f.rows; ++n) {
    std::vector<double> s(intercepts.begin(), intercepts.end());
    for (int64_t k = 0; k < scores; ++k)
      for (int64_t c = 0; c < f.columns; ++c)
        s[static_cast<size_t>(k)] += f.row(n)[static_cast<size_t>(c)] * double{weights[static_cast<size_t>(k * f.columns + c)]};
    const bool one = scores == 1;
    if (one) TRY(refuse_probit_of_one_score(call.view, how));
    labels.store(y, n, one ? s[0] > 0 : argmax(s));
    if (one) s = two_scores(s[0], true, how);
    else transform(how, s);
    for (int64_t k = 0; z && k < labels.count(); ++k) z->set_number(n * labels.count() + k, s[static_cast<size_t>(k)]);
  }
  return {};
}

}  // namespace

OP(linear_classifier) {
    .name = "LinearClassifier",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y", "Z"}},
    .attributes = {{"classlabels_ints: ints", "classlabels_strings: strings", "coefficients: floats!", "intercepts: floats",
                    "multi_class: int = 0", "post_transform: string = NONE"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples =
        {{"f32[3,2]; coefficients=[1.0,0.5], intercepts=[0.25], classlabels_ints=[7,9], outputs=2",
          "f32[3,2]; coefficients=[1.0,0.5], intercepts=[0.25], classlabels_ints=[7,9], post_transform=LOGISTIC, outputs=2",
          "f32[3,2]; coefficients=[1.0,0.5,-1.0,0.3], intercepts=[0.25,0.1], classlabels_ints=[7,9], post_transform=SOFTMAX, outputs=2",
          "f32[3,2]; coefficients=[1.0,0.5,-1.0,0.3,0.2,0.2], intercepts=[0.25,0.1,0.5], classlabels_ints=[7,9,11], "
          "post_transform=LOGISTIC, outputs=2",
          "i64[3,2] in -3..3; coefficients=[1.0,0.5,-1.0,0.3,0.2,0.2], intercepts=[0.25,0.1,0.5], classlabels_ints=[7,9,11], outputs=2"}},
};

}  // namespace tenon::ops::op_linear_classifier
