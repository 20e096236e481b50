// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/broadcast.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_where {

namespace {

Result<void> infer_where(NodeView& view) {
  TRY(require_dtype(view, 0, is_bool, "bool"));
  TRY(require_same_dtype(view, 1, 2));
  Type type(dtype_of(view, 1));
  type.shape = TRY(broadcast_inputs(view, 0, 3));
  set_output(view, 0, type);
  if (!type.has_rank()) return {};
  const auto a = broadcast_elements(view, 1, *type.shape), b = broadcast_elements(view, 2, *type.shape);
  if (!a || !b) return {};
  const auto condition = broadcast_elements(view, 0, *type.shape);
  if (!condition) return {};
  ShapeData out;
  for (size_t i = 0; i < a->size(); ++i) out.push_back(select((*condition)[i], (*a)[i], (*b)[i]));
  set_data(view, 0, std::move(out));
  return {};
}

Result<void> reference_of_where(Call& call) {
  const Tensor &condition = *call.in[0], &a = *call.in[1], &b = *call.in[2];
  const Sizes shape = TRY(broadcast_sizes(call.view, TRY(broadcast_sizes(call.view, condition.shape(), a.shape())), b.shape()));
  Tensor* out = TRY(call.make(0, shape));
  if (out->count() == 0) return {};
  const Sizes sc = broadcast_strides(condition.shape(), shape), sa = broadcast_strides(a.shape(), shape),
              sb = broadcast_strides(b.shape(), shape);
  Sizes at(shape.size(), 0);
  int64_t i = 0;
  do {
    const bool first = condition.integer(offset_of(at, sc)) != 0;
    copy_element(*out, i++, first ? a : b, first ? offset_of(at, sa) : offset_of(at, sb));
  } while (next_index(at, shape));
  return {};
}

}  // namespace

OP(where) {
    .name = "Where",
    .since_version = 16,
    .inputs = {{"condition", "x", "y"}},
    .infer = infer_where,
    .loop_form = map_form<[](std::span<const Expr> x) { return select(x[0], x[1], x[2]); }>,
    .reference = reference_of_where,
    .first_opset = 9,
    .samples = {{"bool[2,3], f32[2,3], f32[2,3]", "bool[3], f32[2,1], f32[]", "bool[2,1], i64[3], i64[1]", "bool[0], f16[1], f16[0]",
                 "bool[], u8[2], u8[2]", "bool[2], bool[2], bool[2]"}},
};

}  // namespace tenon::ops::op_where
