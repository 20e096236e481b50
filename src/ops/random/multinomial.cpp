// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/infer/elementwise.h"
#include "ops/random/draw.h"

namespace tenon::ops::op_multinomial {

namespace {

Result<void> infer_multinomial(NodeView& view) {
  TRY(require_dtype(view, 0, is_float, "a floating-point dtype"));
  TRY(require_rank(view, 0, 2, 2));
  const int64_t samples = view.attributes->integer("sample_size", 1);
  if (samples < 0) return refuse(view, Code::bad_attribute, "'sample_size' is negative").found(std::to_string(samples));
  const DType dtype = TRY(drawn_dtype(view, DType::i32));
  if (dtype != DType::i32 && dtype != DType::i64)
    return refuse(view, Code::bad_attribute, "'dtype' must be an index dtype").expected("i32 or i64").found(std::string(name_of(dtype)));
  Type type(dtype);
  if (view.type(0).has_rank()) type.shape = DimList{view.type(0).dim(0), samples};
  set_output(view, 0, std::move(type));
  return {};
}

/// Running sums of exp(x - max) of one row of logarithms of probabilities.
std::vector<double> running_sums(const Tensor& logits, int64_t row, int64_t classes) {
  double largest = -INFINITY, sum = 0;
  for (int64_t c = 0; c < classes; ++c) largest = std::max(largest, logits.number(row * classes + c));
  std::vector<double> sums;
  for (int64_t c = 0; c < classes; ++c) sums.push_back(sum += std::exp(logits.number(row * classes + c) - largest));
  return sums;
}

Result<void> reference_of_multinomial(Call& call) {
  const Tensor& logits = *call.in[0];
  const int64_t rows = logits.shape()[0], classes = logits.shape()[1], samples = call.view.attributes->integer("sample_size", 1);
  if (rows > 0 && classes == 0) return refuse(call.view, Code::bad_input, "there is no class to draw").expected("at least one class");
  Tensor* out = TRY(call.make(0, {rows, samples}));
  const Draws draws(call);
  for (int64_t r = 0; r < rows; ++r) {
    const std::vector<double> sums = running_sums(logits, r, classes);
    if (!(sums.back() > 0 && std::isfinite(sums.back())))
      return refuse(call.view, Code::bad_input, "a row of probabilities has no finite sum above 0").found("row " + std::to_string(r));
    for (int64_t k = r * samples; k < (r + 1) * samples; ++k) {
      const auto chosen = std::upper_bound(sums.begin(), sums.end(), draws.uniform(k) * sums.back());
      out->set_integer(k, std::min<int64_t>(chosen - sums.begin(), classes - 1));
    }
  }
  return {};
}

}  // namespace

OP(multinomial) {
    .name = "Multinomial",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int = 6", "sample_size: int = 1", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_multinomial,
    .reference = reference_of_multinomial,
    .samples = {{"f32[2,3]", "f64[4,2]; sample_size=5, dtype=7", "f16[0,3]; sample_size=2, seed=3"}},
};

}  // namespace tenon::ops::op_multinomial
