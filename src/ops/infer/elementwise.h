// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/broadcast.h"

namespace tenon::ops {

Result<void> same_shape_and_dtype(NodeView& view);  ///< any dtype; shape data pass through only for Identity-like ops: see pass_data
Result<void> infer_float_unary(NodeView& view);     ///< float arithmetic types only
Result<void> infer_number_unary(NodeView& view);
Result<void> infer_signed_unary(NodeView& view);
Result<void> infer_predicate(NodeView& view);  ///< float to bool
/// Two operands, broadcast, one numeric dtype.
Result<void> infer_binary(NodeView& view, bool (*accepted)(DType) = is_number);
/// Two operands to bool.
Result<void> infer_comparison(NodeView& view, bool (*accepted)(DType) = is_number);
/// Any number of operands, broadcast, one dtype.
Result<void> infer_variadic(NodeView& view, bool (*accepted)(DType) = is_number);

}  // namespace tenon::ops
