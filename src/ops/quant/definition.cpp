// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/quant/parameters.h"

namespace tenon::ops {

using ir::ValueId;

Result<void> infer_quantized(NodeView& view, size_t like) {
  TRY(require_dtype(view, like, is_byte, "i8 or u8"));
  TRY(infer_by_definition(view));
  if (view.outputs[0].dtype != dtype_of(view, like)) set_output(view, 0, Type(dtype_of(view, like)));
  return {};
}

ValueId as_scalar(ir::Builder& build, ValueId x) {
  if (!x) return x;
  const ir::Type& type = build.graph().value(x).type;
  return type.has_rank() && type.rank() == 0 ? x : build("Reshape", {x, build.ints({})});
}

namespace {
ValueId operand(std::span<const ValueId> in, size_t k) { return k < in.size() ? in[k] : ValueId{}; }
}  // namespace

ValueId dequantized(ir::Builder& build, std::span<const ValueId> in, size_t k) {
  return build("DequantizeLinear", {operand(in, k), as_scalar(build, operand(in, k + 1)), as_scalar(build, operand(in, k + 2))});
}

ValueId quantized(ir::Builder& build, ValueId y, std::span<const ValueId> in, size_t k, DType dtype) {
  const ValueId zero = operand(in, k + 1) ? as_scalar(build, operand(in, k + 1)) : build.scalar(dtype, 0);
  return build("QuantizeLinear", {y, as_scalar(build, operand(in, k)), zero});
}

ValueId scaled_product(ir::Builder& build, ValueId a, ValueId b, ValueId a_scale, ValueId b_scale, ValueId a_zero, ValueId b_zero,
                       ValueId bias) {
  const ValueId sum = build("MatMulInteger", {a, b, as_scalar(build, a_zero), b_zero});
  ValueId y = build("Mul", {cast_to(build, sum, DType::f32), build("Mul", {as_scalar(build, a_scale), b_scale})});
  if (bias) y = build("Add", {y, bias});
  return y;
}

ValueId channels_first(ir::Builder& build, ValueId x, int rank) {
  Ints order{0, rank - 1};
  for (int64_t k = 1; k < rank - 1; ++k) order.push_back(k);
  return build("Transpose", {x}, {{"perm", std::move(order)}});
}

ValueId channels_last(ir::Builder& build, ValueId x, int rank) {
  Ints order{0};
  for (int64_t k = 2; k < rank; ++k) order.push_back(k);
  order.push_back(1);
  return build("Transpose", {x}, {{"perm", std::move(order)}});
}

}  // namespace tenon::ops
