// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ops/infer/types.h"

namespace tenon::ops {

/// Number types that models of ai.onnx.ml take: f32, f64, i32, i64.
bool is_feature_dtype(DType dtype);

/// Operand 0 of a model: samples by features; one dimension is one sample.
struct Features {
  int64_t rows = 0, columns = 0;
  std::vector<double> x;

  std::span<const double> row(int64_t n) const { return {x.data() + n * columns, static_cast<size_t>(columns)}; }
};
/// Errors: rank_mismatch.
Result<Features> features_of(const Call& call);
/// How many samples operand 0 has; none where its rank is not known.
std::optional<Dim> samples_of(const NodeView& view);

/// The function that is applied to the scores of one sample, attribute post_transform.
enum class PostTransform : uint8_t { none, softmax, logistic, softmax_zero, probit };
/// Attribute post_transform. Errors: bad_attribute.
Result<PostTransform> post_transform_of(const NodeView& view);
/// Transforms scores in place. softmax_zero: scores of 0 stay 0 and do not contribute to the sum. probit: the inverse of the normal
/// distribution.
void transform(PostTransform how, std::span<double> scores);
/// Refuses a transform of one score a sample: ONNX's text applies it, ONNX Runtime does not. Errors: not_supported.
Result<void> refuse_post_transform_of_one_score(const NodeView& view, PostTransform how);

/// The class labels of a classifier: integers or strings.
struct Labels {
  Ints ints;
  ir::Strings strings;

  int64_t count() const { return static_cast<int64_t>(strings.empty() ? ints.size() : strings.size()); }
  DType dtype() const { return strings.empty() ? DType::i64 : DType::string; }
  void store(Tensor& out, int64_t at, int64_t which) const;
};
/// Errors: bad_attribute where both or neither are given.
Result<Labels> labels_of(const NodeView& view, std::string_view ints);

/// Results of a classifier: a label and `scores` scores a sample.
Result<void> infer_classifier(NodeView& view, std::string_view ints_attribute);
/// f32[samples, targets]. Errors: dtype_mismatch, rank_mismatch.
Result<void> infer_regressor(NodeView& view, int64_t targets);
/// The index of the largest score, the first of equal ones.
int64_t argmax(std::span<const double> scores);
/// The scores of two classes from one: [-s, s] or, `complement`, [1 - s, s]; logistic takes that of -s and s. Not for probit.
std::vector<double> two_scores(double score, bool complement, PostTransform how);
/// Errors: not_supported where one score for two classes is transformed by probit.
Result<void> refuse_probit_of_one_score(const NodeView& view, PostTransform how);

}  // namespace tenon::ops
