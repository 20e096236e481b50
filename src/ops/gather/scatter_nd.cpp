// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_scatter_nd {

namespace {

/// Checks the shape of updates: the sizes of indices but the last, then those of the data from the number of indexed axes on.
Result<void> require_update_sizes(const NodeView& view) {
  if (!ranks_known(view, {0, 1}) || !view.type(1).dim(-1).is_number()) return {};
  const DimList &data = *view.type(0).shape, &indices = *view.type(1).shape;
  const int64_t depth = indices.back().value();
  if (depth > view.rank(0)) return refuse(view, Code::shape_mismatch, "the indices are deeper than the data");
  DimList updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + depth, data.end());
  TRY(require_rank(view, 2, static_cast<int>(updates.size())));
  if (!view.type(2).has_rank()) return {};
  return require_equal(view, *view.type(2).shape, updates, "sizes of the updates, and those that follow from indices and data");
}

Result<LoopForm> form_of_scatter_nd(const NodeView& view) {
  TRY(require_known_ranks(view));
  const std::string how = view.attributes->text("reduction", "none");
  const Type& result = view.outputs[0];
  const int rank = view.rank(0), picks = view.rank(1);
  if (!view.type(1).dim(-1).is_number())
    return refuse(view, Code::not_supported, "not supported yet: a loop form for indices of unknown depth");
  const int depth = static_cast<int>(view.type(1).dim(-1).value());
  Loop copy;
  copy.axes = parallel_axes(*result.shape);
  const Expr old = load(copy, operand_access(view, 0, axis_indices(rank)));
  copy.outputs.push_back(full_output(result.dtype, *result.shape, old));
  Loop loop;
  loop.axes = parallel_axes(*view.type(2).shape);
  std::vector<Expr> index;
  for (int k = 0; k < depth; ++k) {
    std::vector<Expr> at = axis_indices(picks - 1);
    at.push_back(index_constant(k));
    index.push_back(wrapped_index(load(loop, operand_access(view, 1, std::move(at))), view.type(0).dim(k)));
  }
  for (const Expr& e : axis_indices(rank - depth, picks - 1)) index.push_back(e);
  const Expr value = load(loop, operand_access(view, 2, axis_indices(view.rank(2))));
  Output out = full_output(result.dtype, *result.shape, value);
  out.index = std::move(index);
  out.partial = true;
  out.combine = how == "add"   ? Combine::sum
                : how == "mul" ? Combine::product
                : how == "min" ? Combine::min
                : how == "max" ? Combine::max
                               : Combine::none;
  loop.outputs.push_back(std::move(out));
  return loop_sequence_form({std::move(copy), std::move(loop)});
}

Result<void> reference_of_scatter_nd(Call& call) {
  const Tensor &x = *call.in[0], &indices = *call.in[1], &updates = *call.in[2];
  const std::string how = call.view.attributes->text("reduction", "none");
  const size_t depth = static_cast<size_t>(indices.shape().back());
  if (depth > x.shape().size()) return refuse(call.view, Code::shape_mismatch, "the indices are deeper than the data");
  const Sizes strides = strides_of(x.shape());
  int64_t inner = 1;
  for (size_t d = depth; d < x.shape().size(); ++d) inner *= x.shape()[d];
  const int64_t rows = depth == 0 ? 1 : indices.count() / static_cast<int64_t>(depth);
  if (updates.count() != rows * inner) return refuse(call.view, Code::shape_mismatch, "the updates do not fit indices and data");
  Tensor* out = TRY(call.make(0, x.shape()));
  for (int64_t i = 0; i < x.count(); ++i) copy_element(*out, i, x, i);
  for (int64_t r = 0; r < rows; ++r) {
    int64_t position = 0;
    for (size_t k = 0; k < depth; ++k) {
      position +=
          TRY(wrap_index(call.view, indices.integer(r * static_cast<int64_t>(depth) + static_cast<int64_t>(k)), x.shape()[k])) * strides[k];
    }
    for (int64_t i = 0; i < inner; ++i) scatter_element(*out, position + i, updates, r * inner + i, how);
  }
  return {};
}

}  // namespace

OP(scatter_nd) {
    .name = "ScatterND",
    .since_version = 18,
    .inputs = {{"data", "indices", "updates"}},
    .attributes = {{"reduction: string = none since 16"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, is_index, "i64"));
      TRY(require_rank(view, 1, 1, -1));
      TRY(require_same_dtype(view, 0, 2));
      if (view.attributes->text("reduction", "none") != "none")
        TRY(require_dtype(view, 0, is_number_or_bool, "a number or bool, where there is a reduction"));
      TRY(require_update_sizes(view));
      return infer_same_type(view);
    },
    .loop_form = form_of_scatter_nd,
    .reference = reference_of_scatter_nd,
    .lowest_opset =
        [](const NodeView& view) {
          const std::string reduction = view.attributes->text("reduction", "none");
          return reduction == "none" ? 11 : reduction == "add" || reduction == "mul" ? 16 : 18;
        },
    .first_opset = 11,
    .samples = {{"f32[8], i64[4,1] = [4, 3, 1, 7], f32[4]", "f32[4,4], i64[2,1] = [0, 2], f32[2,4]",
                 "f32[4,4], i64[2,1] = [0, 0], f32[2,4]; reduction=add", "i64[2,2], i64[2,2] = [0, 1, 1, -1], i64[2]",
                 "f16[4], i64[2,1] = [0, 1], f16[2]; reduction=mul", "f64[3], i64[0,1], f64[0]; reduction=max"}},
};

}  // namespace tenon::ops::op_scatter_nd
