// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Granularity of a quantization: one scale and zero point for the tensor, for each index of `axis`, or for each block of `block` elements
/// along `axis`.
struct Granularity {
  enum class Kind : uint8_t { tensor, axis, block } kind = Kind::tensor;
  int axis = 0;
  int64_t block = 0;
};
/// rank, scale_rank: of the data and of the scale. Errors: axis_out_of_range, bad_attribute.
Result<Granularity> granularity_of(const NodeView& view, int rank, int scale_rank);
/// Scale and zero point have the sizes that the granularity requires: one element, or one for each index (or block) of the axis. Errors:
/// shape_mismatch.
Result<void> require_parameter_sizes(const NodeView& view, size_t scale, size_t zero_point);
/// The index at which a loop over the data (operand 0) reads operand `input`, a scale or a zero point.
std::vector<Expr> parameter_index(const Granularity& granularity, const NodeView& view, size_t input);
/// Row-major position of the scale for the element `at` of the data.
int64_t parameter_position(const Granularity& granularity, const Sizes& at, const Sizes& scale_shape);
/// Attribute output_dtype, else the dtype of operand `input`, else `otherwise`.
Result<DType> quantized_dtype(const NodeView& view, size_t input, DType otherwise);
/// Least and largest value of an integer dtype as doubles.
std::pair<double, double> integer_range(DType dtype);

}  // namespace tenon::ops
