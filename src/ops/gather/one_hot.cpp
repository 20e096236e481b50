// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/versions/make_explicit.h"

namespace tenon::ops::op_one_hot {

namespace {

Result<void> infer_one_hot(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  TRY(require_rank(view, 2, 1));
  if (ranks_known(view, {2})) TRY(require_equal(view, view.type(2).dim(0), 2, "the number of values (off, on) and 2"));
  Type type(dtype_of(view, 2));
  if (ranks_known(view, {0})) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", -1), view.rank(0) + 1));
    const auto depth = known_elements(view, 1);
    DimList shape = *view.type(0).shape;
    shape.insert(shape.begin() + axis, depth && depth->size() == 1 ? (*depth)[0] : view.symbols->fresh());
    type.shape = std::move(shape);
  }
  set_output(view, 0, std::move(type));
  return {};
}

/// `on` where the position equals the index, else `off`; an index outside of -depth..depth-1 gives a row of `off`.
Result<LoopForm> form_of_one_hot(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& result = view.outputs[0];
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", -1), view.rank(0) + 1));
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> index = axis_indices(axis);
  for (const Expr& e : axis_indices(view.rank(0) - axis, axis + 1)) index.push_back(e);
  const Expr hot = wrapped_index(load(loop, operand_access(view, 0, std::move(index))), result.dim(axis));
  const Expr off = load(loop, operand_access(view, 2, {index_constant(0)})), on = load(loop, operand_access(view, 2, {index_constant(1)}));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, select(equal(hot, Expr::axis(axis)), on, off)));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_one_hot(Call& call) {
  const Tensor& indices = *call.in[0];
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), indices.rank() + 1)));
  const int64_t depth = static_cast<int64_t>(number_of(call, 1, 0));
  if (depth < 0) return refuse(call.view, Code::bad_input, "the depth is negative");
  Sizes shape = indices.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  const Sizes strides = strides_of(indices.shape());
  return gather_elements(call, *call.in[2], shape, [&](const Sizes& at) {
    Sizes from = at;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(axis));
    int64_t hot = static_cast<int64_t>(indices.number(offset_of(from, strides)));
    if (hot < 0) hot += depth;
    return int64_t{hot == at[axis]};
  });
}

/// 11 for negative indices, which older opsets do not allow.
int lowest_opset_of_one_hot(const NodeView& view) {
  const Tensor* indices = view.inputs[0].constant;
  return indices && std::ranges::any_of(numbers_of(*indices), [](double index) { return index < 0; }) ? 11 : 9;
}

}  // namespace

OP(one_hot) {
    .name = "OneHot",
    .since_version = 28,
    .inputs = {{"indices", "depth", "values"}},
    .attributes = {{"axis: int = -1"}},
    .infer = infer_one_hot,
    .loop_form = form_of_one_hot,
    .reference = reference_of_one_hot,
    .lowest_opset = lowest_opset_of_one_hot,
    .first_opset = 9,
    .make_explicit = count_result_axes_from_zero,
    .samples = {{"i64[3] = [0, -1, 2], i64[] = 4, f32[2] = [0, 1]", "i64[2,2] in 0..2, i64[1] = [3], f32[2]; axis=1",
                 "i32[2] = [5, -7], i64[] = 3, i64[2] = [2, 5]; axis=0", "f32[2] = [1, 0], i64[] = 2, f16[2]", "i64[0], i64[] = 3, u8[2]"}},
};

}  // namespace tenon::ops::op_one_hot
