// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"
#include "ops/reference/integers.h"

namespace tenon::ops::op_tensor_scatter {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_same_dtype(view, 0, 1));
  const std::string mode = view.attributes->text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    return refuse(view, Code::bad_attribute, "mode has an unknown value").expected("linear or circular").found(mode);
  if (ranks_known(view, {0, 1})) {
    if (view.rank(0) != view.rank(1))
      return refuse(view, Code::rank_mismatch, "past_cache and update differ in rank")
          .expected(view.type(0).text())
          .found(view.type(1).text());
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", -2), view.rank(0)));
    if (axis == 0) return refuse(view, Code::axis_out_of_range, "the first axis is the batch");
    TRY(require_at_least(view, view.type(0).dim(axis), view.type(1).dim(axis), "lengths of past_cache and update"));
    for (int k = 0; k < view.rank(0); ++k)
      if (k != axis) TRY(require_equal(view, view.type(0).dim(k), view.type(1).dim(k), "sizes of past_cache and update"));
  }
  TRY(require_dtype(view, 2, [](DType d) { return d == DType::i64; }, "i64"));
  if (view.type(0).has_rank() && view.rank(0) > 0) TRY(require_sizes(view, 2, {view.type(0).dim(0)}));
  set_output(view, 0, view.type(0));
  return {};
}

/// Two loops: a copy of the past cache, then writes of the update alone. Where both caches share memory the copy is dropped.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList &shape = *view.type(0).shape, &update = *view.type(1).shape;
  const int rank = view.rank(0), axis = TRY(normalise_axis(view, view.attributes->integer("axis", -2), rank));
  Loop copy;
  copy.axes = parallel_axes(shape);
  const Expr past = load(copy, operand_access(view, 0, axis_indices(rank)));
  copy.outputs.push_back(full_output(view.outputs[0].dtype, shape, past));
  Loop loop;
  loop.axes = parallel_axes(update);
  std::vector<Expr> index = axis_indices(rank);
  const bool circular = view.attributes->text("mode", "linear") == "circular";
  if (view.has(2)) {
    index[axis] = index[axis] + load(loop, operand_access(view, 2, {index[0]}));
    if (circular) index[axis] = binary(ExprOp::mod, index[axis], size_expr(shape[axis]));
    else loop.index_checks.push_back({.access = 0, .extent = shape[axis] - update[axis] + 1});
  }
  const Expr value = load(loop, operand_access(view, 1, axis_indices(rank)));
  Output written = full_output(view.outputs[0].dtype, shape, value);
  written.index = std::move(index);
  written.partial = true;
  loop.outputs.push_back(std::move(written));
  return loop_sequence_form({std::move(copy), std::move(loop)});
}

Result<void> evaluate(Call& call) {
  const Tensor &past = *call.in[0], &update = *call.in[1];
  int64_t axis = call.view.attributes->integer("axis", -2);
  if (!wrap_axis(axis, past.rank())) return refuse(call.view, Code::axis_out_of_range, "the axis lies outside of the rank");
  const bool circular = call.view.attributes->text("mode", "linear") == "circular";
  Tensor& y = *TRY(call.make(0, past.shape()));
  for (int64_t i = 0; i < past.count(); ++i) copy_element(y, i, past, i);
  const Sizes strides = strides_of(past.shape());
  const int64_t size = past.shape()[axis];
  for (int64_t i = 0; i < update.count(); ++i) {
    Sizes at = index_of(i, update.shape());
    at[axis] = wrap_add(at[axis], call.has(2) ? call.in[2]->integer(at[0]) : 0);
    if (circular && size > 0) at[axis] = floor_mod(at[axis], size);
    if (at[axis] < 0 || at[axis] >= size) {
      return refuse(call.view, Code::index_out_of_range, "the update does not fit after its write index")
          .expected("below " + std::to_string(size))
          .found(std::to_string(at[axis]));
    }
    copy_element(y, offset_of(at, strides), update, i);
  }
  return {};
}

}  // namespace

OP(tensor_scatter) {
    .name = "TensorScatter",
    .since_version = 24,
    .inputs = {{"past_cache", "update", "write_indices?"}},
    .outputs = {{"present_cache"}},
    .attributes = {{"axis: int = -2", "mode: string = linear"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 24,
    .samples = {{"f32[2,1,4,5], f32[2,1,1,5], i64[2] = [1, 2]", "f32[2,4,5], f32[2,2,5], i64[2] = [3, 2]; mode=circular",
                 "f16[2,6,3], f16[2,2,3]", "i32[2,3,4], i32[2,3,1], i64[2] = [0, 3]; axis=2"}},
};

}  // namespace tenon::ops::op_tensor_scatter
