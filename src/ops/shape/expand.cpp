// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/broadcast.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_expand {

namespace {

Result<void> infer_expand(NodeView& view) {
  Type type(dtype_of(view, 0));
  const auto wanted = known_elements(view, 1);
  if (wanted && ranks_known(view, {0})) {
    type.shape = TRY(broadcast(view, *view.type(0).shape, *wanted));
  } else if (const auto length = known_length(view, 1); length && ranks_known(view, {0})) {
    DimList shape;
    for (int64_t i = 0; i < std::max<int64_t>(*length, view.rank(0)); ++i) shape.push_back(view.symbols->fresh());
    type.shape = std::move(shape);
  }
  set_output(view, 0, type);
  if (!type.has_rank()) return {};
  if (auto data = broadcast_elements(view, 0, *type.shape)) set_data(view, 0, std::move(*data));
  return {};
}

Result<LoopForm> form_of_expand(const NodeView& view) {
  TRY(require_known_ranks(view));
  return index_form(view, 0, broadcast_index(*view.type(0).shape, *view.outputs[0].shape));
}

Result<void> reference_of_expand(Call& call) {
  const Tensor& x = *call.in[0];
  const Sizes shape = TRY(broadcast_sizes(call.view, x.shape(), ints_of(call, 1)));
  const Sizes strides = broadcast_strides(x.shape(), shape);
  return gather_elements(call, x, shape, [&](const Sizes& at) { return offset_of(at, strides); });
}

}  // namespace

OP(expand) {
    .name = "Expand",
    .since_version = 13,
    .inputs = {{"input", "shape"}},
    .infer = infer_expand,
    .loop_form = form_of_expand,
    .reference = reference_of_expand,
    .first_opset = 8,
    .samples = {{"f32[2,1], i64[2] = [2, 3]", "f32[3], i64[3] = [2, 2, 1]", "f16[], i64[2] = [2, 2]", "i64[1], i64[1] = [0]",
                 "bool[2,3], i64[1] = [1]", "f64[2,1,3], i64[2] = [4, 3]"}},
};

}  // namespace tenon::ops::op_expand
