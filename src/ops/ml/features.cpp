// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/features.h"

#include <algorithm>
#include <numbers>

#include "ops/infer/require.h"

namespace tenon::ops {

bool is_feature_dtype(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i32 || dtype == DType::i64; }

Result<Features> features_of(const Call& call) {
  const Tensor& t = *call.in[0];
  if (t.rank() < 1 || t.rank() > 2)
    return refuse(call.view, Code::rank_mismatch, "samples by features are needed").found(type_text(t.dtype(), t.shape()));
  return Features{t.rank() == 1 ? 1 : t.shape()[0], t.shape().back(), numbers_of(t)};
}

std::optional<Dim> samples_of(const NodeView& view) {
  if (!view.type(0).has_rank()) return std::nullopt;
  return view.rank(0) == 1 ? Dim(1) : view.type(0).dim(0);
}

Result<PostTransform> post_transform_of(const NodeView& view) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::string name = view.attributes->text("post_transform", "NONE");
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames))
    return refuse(view, Code::bad_attribute, "unknown post_transform")
        .expected("NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT")
        .found(name);
  return static_cast<PostTransform>(at - std::begin(kNames));
}

namespace {

/// The quantile function of the normal distribution at `p`: Newton's method from 0, bisecting where a step leaves the bracket.
double probit(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
  double low = -40, high = 40, x = 0;
  for (int step = 0; step < 200 && high - low > 1e-15 * std::max(1.0, std::fabs(x)); ++step) {
    const double error = 0.5 * std::erfc(-x / std::numbers::sqrt2) - p;
    if (error == 0) break;
    (error > 0 ? high : low) = x;
    const double slope = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    const double next = slope > 0 ? x - error / slope : low;
    x = next > low && next < high ? next : 0.5 * (low + high);
  }
  return x;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

void softmax(std::span<double> scores, bool keep_zeros) {
  double top = -INFINITY, sum = 0;
  for (double s : scores) top = std::max(top, s);
  for (double& s : scores) {
    const bool counts = !keep_zeros || std::fabs(s) > 1e-7;
    s = counts ? std::exp(s - top) : 0;
    sum += s;
  }
  for (double& s : scores) s /= sum;
}

}  // namespace

void transform(PostTransform how, std::span<double> scores) {
  switch (how) {
    case PostTransform::none: break;
    case PostTransform::softmax: softmax(scores, false); break;
    case PostTransform::softmax_zero: softmax(scores, true); break;
    case PostTransform::logistic: std::ranges::transform(scores, scores.begin(), logistic); break;
    case PostTransform::probit: std::ranges::transform(scores, scores.begin(), probit); break;
  }
}

Result<void> refuse_post_transform_of_one_score(const NodeView& view, PostTransform how) {
  if (how == PostTransform::none || how == PostTransform::probit) return {};
  return refuse(view, Code::not_supported, "not supported yet: this post_transform of one score")
      .expected("NONE or PROBIT, on which ONNX and ONNX Runtime agree")
      .found(view.attributes->text("post_transform", "NONE"));
}

void Labels::store(Tensor& out, int64_t at, int64_t which) const {
  const auto k = static_cast<size_t>(which);
  if (strings.empty()) out.set_integer(at, ints[k]);
  else out.mutable_strings()[static_cast<size_t>(at)] = strings[k];
}

Result<Labels> labels_of(const NodeView& view, std::string_view ints) {
  Labels out{view.attributes->ints(ints), {}};
  if (const ir::Attribute* a = view.attributes->find("classlabels_strings")) out.strings = std::get<ir::Strings>(*a);
  if (out.ints.empty() == out.strings.empty())
    return refuse(view, Code::bad_attribute, "labels are integers or strings, and one of both is given")
        .expected(std::string(ints) + " or classlabels_strings")
        .found(out.ints.empty() ? "neither" : "both");
  return out;
}

namespace {

Result<void> require_features(const NodeView& view) {
  TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32 or i64"));
  return require_rank(view, 0, 1, 2);
}

void set_row_result(NodeView& view, size_t k, DType dtype, std::optional<int64_t> columns) {
  Type type(dtype);
  if (const auto rows = samples_of(view)) type.shape = columns ? DimList{*rows, Dim(*columns)} : DimList{*rows};
  set_output(view, k, std::move(type));
}

}  // namespace

Result<void> infer_classifier(NodeView& view, std::string_view ints_attribute) {
  TRY(require_features(view));
  TRY(post_transform_of(view));
  const Labels labels = TRY(labels_of(view, ints_attribute));
  if (labels.count() < 2) return refuse(view, Code::not_supported, "not supported yet: fewer than two labels");
  set_row_result(view, 0, labels.dtype(), {});
  set_row_result(view, 1, DType::f32, labels.count());
  return {};
}

Result<void> infer_regressor(NodeView& view, int64_t targets) {
  TRY(require_features(view));
  const PostTransform how = TRY(post_transform_of(view));
  if (targets < 1) return refuse(view, Code::bad_attribute, "at least one target is needed").found(std::to_string(targets));
  if (targets == 1) TRY(refuse_post_transform_of_one_score(view, how));
  set_row_result(view, 0, DType::f32, targets);
  return {};
}

int64_t argmax(std::span<const double> scores) { return std::ranges::max_element(scores) - scores.begin(); }

std::vector<double> two_scores(double score, bool complement, PostTransform how) {
  TENON_ASSERT(how != PostTransform::probit);
  if (how == PostTransform::logistic) return {logistic(-score), logistic(score)};
  return {complement ? 1 - score : -score, score};
}

Result<void> refuse_probit_of_one_score(const NodeView& view, PostTransform how) {
  if (how != PostTransform::probit) return {};
  return refuse(view, Code::not_supported, "not supported yet: PROBIT of one score for two classes");
}

}  // namespace tenon::ops
