// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_linear_regressor {

namespace {

int64_t targets_of(const NodeView& view) { return view.attributes->integer("targets", 1); }

Result<void> infer(NodeView& view) {
  const int64_t targets = targets_of(view);
  TRY(infer_regressor(view, targets));
  const auto count = static_cast<int64_t>(view.attributes->floats("coefficients").size());
  const auto intercepts = static_cast<int64_t>(view.attributes->floats("intercepts").size());
  if (count == 0 || count % targets != 0 || (intercepts != 0 && intercepts != targets))
    return refuse(view, Code::bad_attribute, "coefficients and intercepts do not fit the targets")
        .expected("a row of coefficients and one intercept a target, " + std::to_string(targets) + " targets")
        .found(std::to_string(count) + " coefficients, " + std::to_string(intercepts) + " intercepts");
  if (view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), Dim(count / targets), "features and coefficients"));
  return {};
}

Result<void> evaluate(Call& call) {
  const Features f = TRY(features_of(call));
  const PostTransform how = TRY(post_transform_of(call.view));
  const int64_t targets = targets_of(call.view);
  const ir::Floats weights = call.view.attributes->floats("coefficients"), intercepts = call.view.attributes->floats("intercepts");
  if (f.columns * targets != static_cast<int64_t>(weights.size()))
    return refuse(call.view, Code::shape_mismatch, "a wrong number of features");
  Tensor& y = *TRY(call.make(0, {f.rows, targets}));
  for (int64_t n = 0; n < f.rows; ++n) {
    std::vector<double> scores(intercepts.begin(), intercepts.end());
    scores.resize(static_cast<size_t>(targets));
    for (int64_t t = 0; t < targets; ++t)
      for (int64_t c = 0; c < f.columns; ++c)
        scores[static_cast<size_t>(t)] += f.row(n)[static_cast<size_t>(c)] * double{weights[static_cast<size_t>(t * f.columns + c)]};
    transform(how, scores);
    for (int64_t t = 0; t < targets; ++t) y.set_number(n * targets + t, scores[static_cast<size_t>(t)]);
  }
  return {};
}

}  // namespace

OP(linear_regressor) {
    .name = "LinearRegressor",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"coefficients: floats", "intercepts: floats", "post_transform: string = NONE", "targets: int = 1"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples = {{"f32[3,2]; coefficients=[1.0,0.5], intercepts=[0.25]", "f32[2]; coefficients=[1.0,0.5]",
                 "f32[3,2]; coefficients=[1.0,0.5,-1.0,0.3], intercepts=[0.25,0.1], targets=2, post_transform=SOFTMAX",
                 "f32[3,2]; coefficients=[1.0,0.5,-1.0,0.3], intercepts=[0.25,0.1], targets=2, post_transform=LOGISTIC",
                 "f32[3,2] = [0, 0, 1, 2, -1, 3]; coefficients=[1.0,0.5,-1.0,0.3], targets=2, post_transform=SOFTMAX_ZERO",
                 "f32[3,2] in 0..0.2; coefficients=[1.0,0.5], intercepts=[0.3], post_transform=PROBIT"}},
};

}  // namespace tenon::ops::op_linear_regressor
