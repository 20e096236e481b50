// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_transpose {

namespace {

Result<std::vector<int>> order_of(const NodeView& view, int rank) {
  if (!view.attributes->has("perm")) {
    std::vector<int> reversed;
    for (int i = rank; i-- > 0;) reversed.push_back(i);
    return reversed;
  }
  const Ints perm = view.attributes->ints("perm");
  if (static_cast<int>(perm.size()) != rank) {
    return refuse(view, Code::bad_attribute, "perm has a wrong length").expected(std::to_string(rank)).found(std::to_string(perm.size()));
  }
  return normalise_axes(view, perm, rank, false);
}

Result<void> infer_transpose(NodeView& view) {
  Type type(dtype_of(view, 0));
  if (ranks_known(view, {0})) {
    DimList shape;
    for (int a : TRY(order_of(view, view.rank(0)))) shape.push_back(view.type(0).dim(a));
    type.shape = std::move(shape);
  } else if (view.attributes->has("perm")) {
    DimList shape;
    for (size_t i = 0; i < view.attributes->ints("perm").size(); ++i) shape.push_back(view.symbols->fresh());
    type.shape = std::move(shape);
  }
  set_output(view, 0, std::move(type));
  if (!ranks_known(view, {0})) return {};
  const std::vector<int> order = TRY(order_of(view, view.rank(0)));
  pick_data(view, [&](const std::vector<int64_t>& at) {
    std::vector<int64_t> from(at.size());
    for (size_t d = 0; d < at.size(); ++d) from[static_cast<size_t>(order[d])] = at[d];
    return from;
  });
  return {};
}

Result<LoopForm> form_of_transpose(const NodeView& view) {
  TRY(require_known_ranks(view));
  const std::vector<int> order = TRY(order_of(view, view.rank(0)));
  std::vector<Expr> index(order.size());
  for (size_t i = 0; i < order.size(); ++i) index[static_cast<size_t>(order[i])] = Expr::axis(static_cast<int>(i));
  return index_form(view, 0, std::move(index));
}

Result<void> reference_of_transpose(Call& call) {
  const Tensor& x = *call.in[0];
  const std::vector<int> order = TRY(order_of(call.view, x.rank()));
  const Sizes strides = strides_of(x.shape());
  Sizes shape, moved;
  for (int a : order) {
    shape.push_back(x.shape()[static_cast<size_t>(a)]);
    moved.push_back(strides[static_cast<size_t>(a)]);
  }
  return gather_elements(call, x, shape, [&](const Sizes& at) { return offset_of(at, moved); });
}

Folded fold_transpose(const NodeView& view, std::span<const ir::ConstantRef> in) {
  auto order = order_of(view, static_cast<int>(in[0]->shape.size()));
  return order ? Folded(std::vector{ir::permute(in[0], std::move(*order))}) : std::nullopt;
}

}  // namespace

OP(transpose) {
    .name = "Transpose",
    .since_version = 25,
    .inputs = {{"data"}},
    .outputs = {{"transposed"}},
    .attributes = {{"perm: ints"}},
    .infer = infer_transpose,
    .loop_form = form_of_transpose,
    .fold = fold_transpose,
    .reference = reference_of_transpose,
    .samples = {{"f32[2,3,4]", "f32[2,3,4]; perm=[0,2,1]", "f16[2,3]; perm=[1,0]", "i64[0,3]", "f64[]", "bool[2,1,3]; perm=[2,0,1]",
                 "u8[2,3,4,5]; perm=[0,2,1,3]"}},
};

}  // namespace tenon::ops::op_transpose
