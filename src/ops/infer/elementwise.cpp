// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"

namespace tenon::ops {

Result<void> infer_same_type(NodeView& view) {
  if (view.has(0)) set_output(view, 0, view.type(0));
  return {};
}

Result<void> infer_float_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "f16, bf16, f32 or f64"));
  return infer_same_type(view);
}

Result<void> infer_number_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  return infer_same_type(view);
}

Result<void> infer_signed_unary(NodeView& view) {
  TRY(require_dtype(view, 0, is_signed_number, "a signed numeric dtype"));
  return infer_same_type(view);
}

Result<void> infer_float_predicate(NodeView& view) {
  TRY(require_dtype(view, 0, is_float, "a float dtype"));
  TRY(infer_same_type(view));
  view.outputs[0].dtype = DType::boolean;
  return {};
}

namespace {
Result<void> infer_broadcast(NodeView& view, bool (*accepted)(DType), std::optional<DType> result) {
  DType dtype = DType::none;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TRY(require_dtype(view, i, accepted, "a dtype that this op computes with"));
    if (i > 0) TRY(require_same_dtype(view, 0, i));
    if (dtype == DType::none) dtype = dtype_of(view, i);
  }
  auto shape = TRY(broadcast_inputs(view, 0, view.inputs.size()));
  Type type(result.value_or(dtype));
  type.shape = std::move(shape);
  set_output(view, 0, std::move(type));
  return {};
}
}  // namespace

Result<void> infer_binary(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, {}); }

Result<void> infer_comparison(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, DType::boolean); }

Result<void> infer_variadic(NodeView& view, bool (*accepted)(DType)) { return infer_broadcast(view, accepted, {}); }

}  // namespace tenon::ops
