// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_space_to_depth {

namespace {

Result<void> infer_space_to_depth(NodeView& view) {
  TRY(require_rank(view, 0, 4));
  Type type(dtype_of(view, 0));
  const int64_t block = view.attributes->integer("blocksize", 0);
  if (block < 1) return refuse(view, Code::bad_attribute, "blocksize must be at least 1").found(std::to_string(block));
  if (ranks_known(view, {0})) {
    const Type& in = view.type(0);
    for (int a : {2, 3})
      TRY(require_equal(view, floor_div(in.dim(a), block) * block, in.dim(a), "a spatial size and a multiple of blocksize"));
    type.shape = DimList{in.dim(0), in.dim(1) * (block * block), floor_div(in.dim(2), block), floor_div(in.dim(3), block)};
  }
  set_output(view, 0, std::move(type));
  return {};
}

Result<LoopForm> form_of_space_to_depth(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Expr block = index_constant(view.attributes->integer("blocksize", 1)), channels = size_expr(view.type(0).dim(1));
  const bool columns_first = view.attributes->text("mode", "DCR") == "CRD";
  const Expr c = Expr::axis(1), area = block * block;
  const Expr place = columns_first ? binary(ExprOp::mod, c, area) : c / channels;
  const Expr channel = columns_first ? c / area : binary(ExprOp::mod, c, channels);
  return index_form(
      view, 0, {Expr::axis(0), channel, Expr::axis(2) * block + place / block, Expr::axis(3) * block + binary(ExprOp::mod, place, block)});
}

Result<void> reference_of_space_to_depth(Call& call) {
  const Tensor& in = *call.in[0];
  const int64_t b = call.view.attributes->integer("blocksize", 1), channels = in.shape()[1];
  const bool columns_first = call.view.attributes->text("mode", "DCR") == "CRD";
  const Sizes strides = strides_of(in.shape());
  return gather_elements(call, in, {in.shape()[0], channels * b * b, in.shape()[2] / b, in.shape()[3] / b}, [&](const Sizes& at) {
    const int64_t place = columns_first ? at[1] % (b * b) : at[1] / channels, channel = columns_first ? at[1] / (b * b) : at[1] % channels;
    return offset_of({at[0], channel, at[2] * b + place / b, at[3] * b + place % b}, strides);
  });
}

}  // namespace

OP(space_to_depth) {
    .name = "SpaceToDepth",
    .since_version = 28,
    .inputs = {{"input"}},
    .attributes = {{"blocksize: int!", "mode: string = DCR since 28"}},
    .infer = infer_space_to_depth,
    .loop_form = form_of_space_to_depth,
    .reference = reference_of_space_to_depth,
    .samples = {{"f32[1,2,4,6]; blocksize=2, mode=CRD", "f32[1,2,4,6]; blocksize=2", "f16[1,1,3,3]; blocksize=3",
                 "i64[0,4,2,2]; blocksize=2", "u8[1,3,2,2]; blocksize=1"}},
};

}  // namespace tenon::ops::op_space_to_depth
