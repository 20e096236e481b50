// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_depth_to_space {

namespace {

/// Position of channel `c` and offset (y, x) inside a block, as one number over the operand's channels.
Expr source_channel(bool columns_first, Expr c, Expr y, Expr x, Expr block, Dim channels) {
  if (columns_first) return c * (block * block) + y * block + x;  // CRD
  return (y * block + x) * size_expr(channels) + c;               // DCR
}

Result<void> infer_depth_to_space(NodeView& view) {
  TRY(require_rank(view, 0, 4));
  Type type(dtype_of(view, 0));
  const int64_t block = view.attributes->integer("blocksize", 0);
  if (block < 1) return refuse(view, Code::bad_attribute, "blocksize must be at least 1").found(std::to_string(block));
  if (ranks_known(view, {0})) {
    const Dim channels = view.type(0).dim(1);
    TRY(require_equal(view, floor_div(channels, block * block) * (block * block), channels,
                      "channels and a multiple of blocksize * blocksize"));
    type.shape = DimList{view.type(0).dim(0), floor_div(channels, block * block), view.type(0).dim(2) * block, view.type(0).dim(3) * block};
  }
  set_output(view, 0, std::move(type));
  return {};
}

Result<LoopForm> form_of_depth_to_space(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Expr block = index_constant(view.attributes->integer("blocksize", 1));
  const bool columns_first = view.attributes->text("mode", "DCR") == "CRD";
  const Expr y = Expr::axis(2), x = Expr::axis(3);
  const Expr channel = source_channel(columns_first, Expr::axis(1), binary(ExprOp::mod, y, block), binary(ExprOp::mod, x, block), block,
                                      view.outputs[0].dim(1));
  return index_form(view, 0, {Expr::axis(0), channel, y / block, x / block});
}

Result<void> reference_of_depth_to_space(Call& call) {
  const Tensor& in = *call.in[0];
  const int64_t b = call.view.attributes->integer("blocksize", 1);
  const bool columns_first = call.view.attributes->text("mode", "DCR") == "CRD";
  const Sizes strides = strides_of(in.shape());
  const int64_t channels = in.shape()[1] / (b * b);
  return gather_elements(call, in, {in.shape()[0], channels, in.shape()[2] * b, in.shape()[3] * b}, [&](const Sizes& at) {
    const int64_t y = at[2] % b, x = at[3] % b;
    const int64_t channel = columns_first ? (at[1] * b + y) * b + x : (y * b + x) * channels + at[1];
    return offset_of({at[0], channel, at[2] / b, at[3] / b}, strides);
  });
}

}  // namespace

OP(depth_to_space) {
    .name = "DepthToSpace",
    .since_version = 28,
    .inputs = {{"input"}},
    .attributes = {{"blocksize: int!", "mode: string = DCR since 11"}},
    .infer = infer_depth_to_space,
    .loop_form = form_of_depth_to_space,
    .reference = reference_of_depth_to_space,
    .samples = {{"f32[1,8,2,3]; blocksize=2", "f32[2,8,2,2]; blocksize=2, mode=CRD", "f16[1,9,1,1]; blocksize=3",
                 "i64[0,4,2,2]; blocksize=2", "u8[1,3,2,2]; blocksize=1"}},
};

}  // namespace tenon::ops::op_depth_to_space
