// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_gather_nd {

namespace {

Result<void> infer_gather_nd(NodeView& view) {
  TRY(require_dtype(view, 1, is_index, "i64"));
  TRY(require_rank(view, 1, 1, -1));
  Type type(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    const DimList &data = *view.type(0).shape, &indices = *view.type(1).shape;
    const int64_t batch = view.attributes->integer("batch_dims", 0);
    if (indices.back().is_number()) {
      const int64_t depth = indices.back().value();
      if (batch < 0 || depth < 1 || batch + depth > static_cast<int64_t>(data.size()) || batch >= static_cast<int64_t>(indices.size())) {
        return refuse(view, Code::shape_mismatch, "the last dimension of the indices does not fit the data").found(view.type(1).text());
      }
      for (size_t k = 0; k < static_cast<size_t>(batch); ++k)
        TRY(require_equal(view, data[k], indices[k], "batch sizes of data and indices"));
      DimList shape(indices.begin(), indices.end() - 1);
      shape.insert(shape.end(), data.begin() + batch + depth, data.end());
      type.shape = std::move(shape);
    }
  }
  set_output(view, 0, std::move(type));
  return {};
}

Result<LoopForm> form_of_gather_nd(const NodeView& view) {
  TRY(require_known_ranks(view));
  const int rank = view.rank(0), picks = view.rank(1);
  const int batch = static_cast<int>(view.attributes->integer("batch_dims", 0));
  if (!view.type(1).dim(-1).is_number())
    return refuse(view, Code::not_supported, "not supported yet: a loop form for indices of unknown depth");
  const int depth = static_cast<int>(view.type(1).dim(-1).value());
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> index = axis_indices(batch);
  for (int k = 0; k < depth; ++k) {
    std::vector<Expr> at = axis_indices(picks - 1);
    at.push_back(index_constant(k));
    index.push_back(wrapped_index(load(loop, operand_access(view, 1, std::move(at))), view.type(0).dim(batch + k)));
  }
  for (const Expr& e : axis_indices(rank - batch - depth, picks - 1)) index.push_back(e);
  const Expr value = load(loop, operand_access(view, 0, std::move(index)));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_gather_nd(Call& call) {
  const Tensor &x = *call.in[0], &indices = *call.in[1];
  const size_t batch = static_cast<size_t>(call.view.attributes->integer("batch_dims", 0));
  const size_t depth = static_cast<size_t>(indices.shape().back());
  if (batch + depth > x.shape().size()) return refuse(call.view, Code::shape_mismatch, "the indices are deeper than the data");
  Sizes shape(indices.shape().begin(), indices.shape().end() - 1);
  const size_t outer = shape.size();
  shape.insert(shape.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(batch + depth), x.shape().end());
  const Sizes strides = strides_of(x.shape()), index_strides = strides_of(indices.shape());
  for (int64_t i = 0; i < indices.count(); ++i)  // where what they pick is empty, too
    TRY(wrap_index(call.view, indices.integer(i), x.shape()[batch + static_cast<size_t>(i) % depth]));
  Tensor* out = TRY(call.make(0, shape));
  Sizes at(shape.size(), 0);
  for (int64_t i = 0; i < out->count(); ++i) {
    int64_t row = 0, position = 0;
    for (size_t d = 0; d < outer; ++d) row += at[d] * index_strides[d];
    for (size_t d = 0; d < batch; ++d) position += at[d] * strides[d];
    for (size_t k = 0; k < depth; ++k) {
      position += TRY(wrap_index(call.view, indices.integer(row + static_cast<int64_t>(k)), x.shape()[batch + k])) * strides[batch + k];
    }
    for (size_t d = outer; d < shape.size(); ++d) position += at[d] * strides[batch + depth + d - outer];
    copy_element(*out, i, x, position);
    next_index(at, shape);
  }
  return {};
}

}  // namespace

OP(gather_nd) {
    .name = "GatherND",
    .since_version = 13,
    .inputs = {{"data", "indices"}},
    .attributes = {{"batch_dims: int = 0 since 12"}},
    .infer = infer_gather_nd,
    .loop_form = form_of_gather_nd,
    .reference = reference_of_gather_nd,
    .first_opset = 11,
    .samples = {{"f32[2,2], i64[2,2] = [0, 0, 1, -1]", "f32[2,3], i64[2,1] = [1, 0]", "f16[2,3,2], i64[2,1,2] = [0, 1, 1, 0]",
                 "i64[2,3,2], i64[2,1] = [2, 0]; batch_dims=1", "f64[2,2], i64[0,2]"}},
};

}  // namespace tenon::ops::op_gather_nd
