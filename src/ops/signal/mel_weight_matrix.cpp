// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_mel_weight_matrix {

namespace {

Result<void> infer(NodeView& view) {
  const auto dtype = dtype_from_onnx(view.attributes->integer("output_datatype", 1));
  if (!dtype || !(is_arithmetic_float(*dtype) || is_integer(*dtype)))
    return refuse(view, Code::bad_attribute, "output_datatype is no number type");
  for (size_t k : {0, 1, 2}) TRY(require_dtype(view, k, is_index, "i32 or i64"));
  for (size_t k : {3, 4}) TRY(require_dtype(view, k, is_arithmetic_float, "a float type"));
  for (size_t k = 0; k < 5; ++k) TRY(require_single_element(view, k));
  auto size = [&](size_t input) {
    const auto given = known_elements(view, input);
    return given && given->size() == 1 ? (*given)[0] : view.symbols->fresh();
  };
  const Dim bins = size(0), length = size(1);
  set_output(view, 0, Type(*dtype, {floor_div(length, 2) + 1, bins}));
  return {};
}

/// Triangles over the bins of a spectrum, equally spaced on the mel scale (2595 log10(1 + hertz / 700)).
Result<void> evaluate(Call& call) {
  const int64_t bins = call.in[0]->integer(0), length = call.in[1]->integer(0), rate = call.in[2]->integer(0);
  const double low = 2595 * std::log10(1 + call.in[3]->number(0) / 700), high = 2595 * std::log10(1 + call.in[4]->number(0) / 700);
  if (bins < 0 || length < 0 || rate < 1 || bins > (int64_t{1} << 32) || length > (int64_t{1} << 32))
    return refuse(call.view, Code::bad_input, "sizes must not be negative, and the sample rate positive");
  Tensor& y = *TRY(call.make(0, {length / 2 + 1, bins}));
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2)) / 2595) - 1);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(std::abs(edge) < 0x1p40)) return refuse(call.view, Code::bad_input, "the frequencies are out of range");
    edges.push_back(static_cast<int64_t>(edge));
  }
  auto put = [&](int64_t row, int64_t column, double value) {
    if (row >= 0 && row <= length / 2) y.set_number(row * bins + column, value);
  };
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t left = edges[i], centre = edges[i + 1], right = edges[i + 2];
    if (left == centre) put(centre, i, 1);
    for (int64_t j = std::max<int64_t>(left, 0); left < centre && j <= std::min(centre, length / 2); ++j)
      put(j, i, static_cast<double>(j - left) / static_cast<double>(centre - left));
    for (int64_t j = std::max<int64_t>(centre, 0); j < std::min(right, length / 2 + 1); ++j)
      put(j, i, static_cast<double>(right - j) / static_cast<double>(right - centre));
  }
  return {};
}

}  // namespace

OP(mel_weight_matrix) {
    .name = "MelWeightMatrix",
    .since_version = 17,
    .inputs = {{"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"}},
    .attributes = {{"output_datatype: int = 1"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 17,
    .samples = {{"i64[] = 8, i64[] = 16, i64[] = 8192, f32[] = 0, f32[] = 4096"}},
};

}  // namespace tenon::ops::op_mel_weight_matrix
