// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <climits>

#include "ops/infer/types.h"

namespace tenon::ops {

// Functions for OpDef::lowest_opset of ops whose versions differ in dtypes alone. Opsets before 13 have no bf16 at all, which export
// checks.

/// A value of OpDef::lowest_opset: no version of the op can express the node.
inline constexpr int kNeverExported = INT_MAX;

/// Max, Min, Sum and Mean broadcast since opset 8.
inline int lowest_opset_of_shapes(const NodeView& view) {
  for (size_t k = 1; k < view.inputs.size(); ++k)
    if (!view.type(0).has_rank() || !view.type(k).has_rank() || *view.type(0).shape != *view.type(k).shape) return 8;
  return 7;
}

inline bool is_short_integer(DType d) { return d == DType::i8 || d == DType::u8 || d == DType::i16 || d == DType::u16; }

/// `since` for bf16, which that opset added to the op.
template <int since>
int lowest_opset_of_bf16(const NodeView& view) {
  return dtype_of(view, 0) == DType::bf16 ? since : 7;
}

/// `since` for integers, which that opset added to the op.
template <int since>
int lowest_opset_of_integers(const NodeView& view) {
  return is_integer(dtype_of(view, 0)) ? since : 7;
}
inline int lowest_opset_of_arithmetic(const NodeView& view) { return is_short_integer(dtype_of(view, 0)) ? 14 : 7; }

}  // namespace tenon::ops
