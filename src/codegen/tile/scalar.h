// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string_view>

#include "codegen/tile/tile.h"

namespace tenon::codegen {

std::string_view name_of(TileOp op);
std::string_view name_of(ops::Combine combine);

/// How many operands an operator of base/expr takes; 0 for leaves.
int operands_of(ExprOp op);
/// Whether `op` is defined on operands of this dtype (select: the type of its branches; cast: the source).
bool is_defined(ExprOp op, DType operand);
/// The element types that registers may have: real arithmetic, integers of 8 to 64 bits, bool, and f8e4m3fn, which is only moved and cast.
bool is_tile_element(DType dtype);

/// Applies an operator to one lane; its semantics are in base/expr/expr.h. Floats are in Scalar::number (exact for f64 and below), integers
/// and bool in Scalar::integer (u64 as its bits). operand, result: dtypes.
Scalar apply(ExprOp op, DType operand, DType result, std::span<const Scalar> args);
Scalar fused_multiply_add(DType dtype, Scalar a, Scalar b, Scalar c);
/// sum + a[0]*b[0] + a[1]*b[1] + ..., rounded as the instruction for a group of more than one product does; see Contract.
Scalar add_group(DType sum_dtype, std::span<const Scalar> a, std::span<const Scalar> b, Scalar sum);
Scalar combine(ops::Combine combination, DType dtype, Scalar a, Scalar b);
Scalar read_element(DType dtype, const std::byte* from);
void write_element(DType dtype, Scalar value, std::byte* to);
/// Rounds or wraps a value to what the dtype can hold.
Scalar rounded(DType dtype, Scalar value);

}  // namespace tenon::codegen
