// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::ops {

/// The operand is one i64, of rank 0 or 1. Errors: dtype_mismatch, rank_mismatch, shape_mismatch.
Result<void> require_number(const NodeView& view, size_t input);

/// A length as a size: the one element of `length` where it is known, else a fresh symbol.
Dim length_of(const NodeView& view, const std::optional<ir::ShapeData>& length);

/// The type of a mask, bool[1, 1, total - past, total], of operands 0 (past) and 1 (total), both one number. Errors: dtype_mismatch,
/// rank_mismatch, shape_mismatch.
Result<ir::Type> mask_type(const NodeView& view);

/// The type of tables of cosines and sines: attribute `to`, a float type, or that of operand `weights`. Errors: bad_attribute.
Result<DType> table_dtype(const NodeView& view, size_t weights);

/// cos(angle) and sin(angle), computed in `dtype`, as tensors of dtype `table`.
std::vector<ir::ValueId> tables_of(ir::Builder& build, ir::ValueId angle, DType dtype, DType table);

/// Operand `input`, one number of rank 0 or 1, with rank 0.
ir::ValueId scalar_of(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, size_t input);

/// first, first + 1, ..., end - 1 along `axis` of four axes, the others of size 1; first: none is 0. Both of rank 0.
ir::ValueId positions(ir::Builder& build, ir::ValueId first, ir::ValueId end, int axis);

}  // namespace tenon::ops
