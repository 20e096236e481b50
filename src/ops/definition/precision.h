// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// The dtype in which a definition computes: f32 for f16 and bf16, so that intermediate results are not rounded to them.
inline DType definition_dtype(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }
/// Cast from a known dtype; x itself where the dtypes are equal.
ir::ValueId as_dtype(ir::Builder& build, ir::ValueId x, DType from, DType to);
/// A definition of an element-wise op with one float operand: `body` computes in definition_dtype.
std::vector<ir::ValueId> define_float_map(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                          const std::function<ir::ValueId(ir::ValueId x, DType dtype)>& body);

}  // namespace tenon::ops
