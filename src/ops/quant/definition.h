// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

// Builders for definitions of ONNX Runtime's quantized ops, in which a tensor, its scale and its zero point are three adjacent operands.

/// infer_by_definition; result 0 has the dtype of operand `like` where the definition does not cover the case.
/// Errors: dtype_mismatch where operand `like` is no 8-bit integer, else what an op of the definition refuses.
Result<void> infer_quantized(NodeView& view, size_t like);
template <size_t like>
Result<void> infer_quantized(NodeView& view) {
  return infer_quantized(view, like);
}

/// A tensor of one element ([1], [1,1]) reshaped to rank 0. None stays none.
ir::ValueId as_scalar(ir::Builder& build, ir::ValueId x);
/// Operand `k` dequantized to f32; operands k + 1 and k + 2 are its scale and zero point (may be missing), of one element each.
ir::ValueId dequantized(ir::Builder& build, std::span<const ir::ValueId> in, size_t k);
/// y quantized with operand `k` as scale and `k + 1` as zero point (0 of `dtype` where it is missing).
ir::ValueId quantized(ir::Builder& build, ir::ValueId y, std::span<const ir::ValueId> in, size_t k, DType dtype);
/// [rows, columns] of 8-bit integers times the same, summed in i32, less the zero points (may be none); times both scales, plus the
/// bias (may be none): f32. Scales and zero points are one for all or one a column.
ir::ValueId scaled_product(ir::Builder& build, ir::ValueId a, ir::ValueId b, ir::ValueId a_scale, ir::ValueId b_scale, ir::ValueId a_zero,
                           ir::ValueId b_zero, ir::ValueId bias);
/// Transposes [N, spatial..., C] to [N, C, spatial...], and back.
ir::ValueId channels_first(ir::Builder& build, ir::ValueId x, int rank);
ir::ValueId channels_last(ir::Builder& build, ir::ValueId x, int rank);

/// OpDef::definition of an op with operands X, its scale and zero point, and those of the result. `body` builds the op on f32.
template <auto body>
std::vector<ir::ValueId> define_quantized_map(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  return {quantized(build, body(build, view, dequantized(build, in, 0)), in, 3, view.type(0).dtype)};
}
/// The same with two operands, numpy broadcasting.
template <auto body>
std::vector<ir::ValueId> define_quantized_pair(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  return {quantized(build, body(build, dequantized(build, in, 0), dequantized(build, in, 3)), in, 6, view.type(0).dtype)};
}

}  // namespace tenon::ops
