// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// How scale and zero point lie over the data: one for all, one an index of `axis`, or one a block of `block` along `axis`.
struct Grain {
  enum class Kind : uint8_t { tensor, axis, block } kind = Kind::tensor;
  int axis = 0;
  int64_t block = 0;
};
/// rank, scale_rank: of the data and of the scale. Errors: axis_out_of_range, bad_attribute.
Result<Grain> grain_of(const NodeView& view, int rank, int scale_rank);
/// Scale and zero point have the sizes of the grain: one element, or one an index (a block) of the axis. Errors: shape_mismatch.
Result<void> require_grain(const NodeView& view, size_t scale, size_t zero_point);
/// Where a loop over the data (operand 0) reads operand `input`, a scale or a zero point.
std::vector<Expr> grain_index(const Grain& grain, const NodeView& view, size_t input);
/// Position of the scale for an element of the data.
int64_t grain_position(const Grain& grain, const Sizes& at, const Sizes& scale_shape);
/// Attribute output_dtype, else the dtype of operand `input`, else `otherwise`.
Result<DType> quantized_dtype(const NodeView& view, size_t input, DType otherwise);
/// Least and largest value of an integer dtype as doubles.
std::pair<double, double> integer_range(DType dtype);

}  // namespace tenon::ops
