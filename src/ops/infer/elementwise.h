// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/broadcast.h"

namespace tenon::ops {

/// Result 0 has the type of operand 0, of any dtype. Does not pass shape data on, see pass_data.
Result<void> infer_same_type(NodeView& view);
Result<void> infer_float_unary(NodeView& view);  ///< the same for f16, bf16, f32 and f64
Result<void> infer_number_unary(NodeView& view);
Result<void> infer_signed_unary(NodeView& view);
Result<void> infer_float_predicate(NodeView& view);  ///< float to bool
/// Two operands of one accepted dtype; result 0 has it and the broadcast shape.
Result<void> infer_binary(NodeView& view, bool (*accepted)(DType) = is_number);
/// Two operands of one accepted dtype; result 0 is bool of the broadcast shape.
Result<void> infer_comparison(NodeView& view, bool (*accepted)(DType) = is_number);
/// Any number of operands of one accepted dtype; result 0 has it and the broadcast shape.
Result<void> infer_variadic(NodeView& view, bool (*accepted)(DType) = is_number);

}  // namespace tenon::ops
