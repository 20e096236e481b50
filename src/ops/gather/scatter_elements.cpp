// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_scatter_elements {

namespace {

Result<std::optional<Combine>> combine_of(const NodeView& view) {
  const std::string how = view.attributes->text("reduction", "none");
  if (how == "none") return std::optional<Combine>();
  if (how == "add") return std::optional(Combine::sum);
  if (how == "mul") return std::optional(Combine::product);
  if (how == "min") return std::optional(Combine::min);
  if (how == "max") return std::optional(Combine::max);
  return refuse(view, Code::bad_attribute, "unknown reduction").expected("none, add, mul, min or max").found(how);
}

/// Two loops: a copy of the data, then the updates at their positions.
Result<LoopForm> form_of_scatter_elements(const NodeView& view) {
  TRY(require_known_ranks(view));
  const auto combine = TRY(combine_of(view));
  const Type& result = view.outputs[0];
  const int rank = view.rank(0);
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  Loop copy;
  copy.axes = parallel_axes(*result.shape);
  const Expr old = load(copy, operand_access(view, 0, axis_indices(rank)));
  copy.outputs.push_back(full_output(result.dtype, *result.shape, old));
  Loop loop;
  loop.axes = parallel_axes(*view.type(1).shape);
  const Expr at = load(loop, operand_access(view, 1, axis_indices(rank)));
  const Expr value = load(loop, operand_access(view, 2, axis_indices(rank)));
  Output out = full_output(result.dtype, *result.shape, value);
  out.index = axis_indices(rank);
  out.index[static_cast<size_t>(axis)] = wrapped_index(at, view.type(0).dim(axis));
  out.partial = true;
  out.combine = combine.value_or(Combine::none);
  loop.outputs.push_back(std::move(out));
  return loop_sequence_form({std::move(copy), std::move(loop)});
}

Result<void> reference_of_scatter_elements(Call& call) {
  const Tensor &x = *call.in[0], &indices = *call.in[1], &updates = *call.in[2];
  const std::string how = call.view.attributes->text("reduction", "none");
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  if (indices.shape() != updates.shape() || indices.rank() != x.rank())
    return refuse(call.view, Code::shape_mismatch, "indices and updates differ in shape");
  for (size_t d = 0; d < x.shape().size(); ++d)
    if (d != axis && indices.shape()[d] > x.shape()[d]) return refuse(call.view, Code::shape_mismatch, "indices reach beyond the data");
  const Sizes strides = strides_of(x.shape());
  Tensor* out = TRY(call.make(0, x.shape()));
  for (int64_t i = 0; i < x.count(); ++i) copy_element(*out, i, x, i);
  Sizes at(indices.shape().size(), 0);
  for (int64_t i = 0; i < updates.count(); ++i) {
    Sizes to = at;
    to[axis] = TRY(wrap_index(call.view, indices.integer(i), x.shape()[axis]));
    scatter_element(*out, offset_of(to, strides), updates, i, how);
    next_index(at, indices.shape());
  }
  return {};
}

}  // namespace

OP(scatter_elements) {
    .name = "ScatterElements",
    .since_version = 18,
    .inputs = {{"data", "indices", "updates"}},
    .attributes = {{"axis: int = 0", "reduction: string = none since 16"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, is_index, "i32 or i64"));
      TRY(require_same_dtype(view, 0, 2));
      if (TRY(combine_of(view))) TRY(require_dtype(view, 0, is_number_or_bool, "a number or bool, where there is a reduction"));
      if (ranks_known(view, {0})) {
        const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
        for (size_t k : {1, 2}) TRY(require_rank(view, k, view.rank(0)));
        for (int k = 0; view.type(1).has_rank() && k < view.rank(0); ++k)
          if (k != axis) TRY(require_at_least(view, view.type(0).dim(k), view.type(1).dim(k), "the indices are larger than the data"));
      }
      if (ranks_known(view, {1, 2})) {
        TRY(require_rank(view, 2, view.rank(1)));
        TRY(require_equal(view, *view.type(1).shape, *view.type(2).shape, "sizes of indices and updates"));
      }
      return infer_same_type(view);
    },
    .loop_form = form_of_scatter_elements,
    .reference = reference_of_scatter_elements,
    .lowest_opset =
        [](const NodeView& view) {
          const std::string reduction = view.attributes->text("reduction", "none");
          return reduction == "none" ? 11 : reduction == "add" || reduction == "mul" ? 16 : 18;
        },
    .first_opset = 11,
    .samples = {{"f32[3,3], i64[2,3] = [1, 0, 2, 0, 2, 1], f32[2,3]", "f32[1,5], i64[1,2] = [1, -2], f32[1,2]; axis=1",
                 "f32[1,5], i64[1,3] = [1, 1, 3], f32[1,3]; axis=1, reduction=add", "i64[4], i32[2] = [0, 0], i64[2]; reduction=mul",
                 "f64[4], i64[3] = [0, 0, 3], f64[3]; reduction=max", "f16[4], i64[2] = [0, 1], f16[2]; reduction=min",
                 "f32[2], i64[0], f32[0]"}},
};

}  // namespace tenon::ops::op_scatter_elements
