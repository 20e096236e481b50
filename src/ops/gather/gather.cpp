// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_gather {

namespace {

Result<void> infer_gather(NodeView& view) {
  TRY(require_dtype(view, 1, is_index, "i32 or i64"));
  Type type(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
    DimList shape = *view.type(0).shape;
    const DimList& indices = *view.type(1).shape;
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, indices.begin(), indices.end());
    type.shape = std::move(shape);
  }
  set_output(view, 0, std::move(type));
  const auto data = known_elements(view, 0);
  const auto indices = known_ints(view, 1);
  if (!data || !indices || !ranks_known(view, {0}) || view.rank(0) != 1) return {};
  ShapeData picked;
  for (int64_t i : *indices) {
    const int64_t n = static_cast<int64_t>(data->size());
    if (i < -n || i >= n)
      return refuse(view, Code::index_out_of_range, "an index is out of range")
          .expected("below " + std::to_string(n))
          .found(std::to_string(i));
    picked.push_back((*data)[static_cast<size_t>(i < 0 ? i + n : i)]);
  }
  set_data(view, 0, std::move(picked));
  return {};
}

Result<LoopForm> form_of_gather(const NodeView& view) {
  TRY(require_known_ranks(view));
  const int rank = view.rank(0), indices_rank = view.rank(1);
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  const Expr wrapped = wrapped_index(load(loop, operand_access(view, 1, axis_indices(indices_rank, axis))), view.type(0).dim(axis));
  std::vector<Expr> index = axis_indices(axis);
  index.push_back(wrapped);
  for (const Expr& e : axis_indices(rank - axis - 1, axis + indices_rank)) index.push_back(e);
  const Expr value = load(loop, operand_access(view, 0, std::move(index)));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_gather(Call& call) {
  const Tensor &x = *call.in[0], &indices = *call.in[1];
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  Sizes shape(x.shape().begin(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), x.shape().begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape().end());
  Tensor* out = TRY(call.make(0, shape));
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < x.shape().size(); ++d) {
    if (d < axis) outer *= x.shape()[d];
    if (d > axis) inner *= x.shape()[d];
  }
  Ints wrapped = integers_of(indices);
  for (int64_t& i : wrapped) i = TRY(wrap_index(call.view, i, x.shape()[axis]));
  int64_t out_index = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i : wrapped) {
      for (int64_t k = 0; k < inner; ++k) copy_element(*out, out_index++, x, (o * x.shape()[axis] + i) * inner + k);
    }
  }
  return {};
}

constexpr size_t kMaxSlices = 64;  ///< of one concatenation; a Gather with more runs is not folded

/// OpDef::fold: a concatenation of slices, one for each run of consecutive indices, so that large tables are not read.
Folded fold_gather(const NodeView& view, std::span<const ir::ConstantRef> in) {
  const Tensor* indices = in[1]->tensor();
  if (!indices || indices->count() == 0) return std::nullopt;
  const int axis = static_cast<int>(view.attributes->integer("axis", 0));
  const int normalised_axis = axis < 0 ? axis + static_cast<int>(in[0]->shape.size()) : axis;
  const int64_t size = in[0]->shape[static_cast<size_t>(normalised_axis)];
  std::vector<std::pair<int64_t, int64_t>> runs;  // begin, end
  for (int64_t k = 0; k < indices->count(); ++k) {
    const int64_t index = indices->integer(k), i = index < 0 ? index + size : index;
    if (i < 0 || i >= size) return std::nullopt;
    if (!runs.empty() && runs.back().second == i) ++runs.back().second;
    else runs.emplace_back(i, i + 1);
    if (runs.size() > kMaxSlices) return std::nullopt;
  }
  std::vector<ir::ConstantRef> parts;
  for (const auto& [begin, end] : runs) parts.push_back(ir::slice(in[0], normalised_axis, begin, end));
  Sizes shape(in[0]->shape.begin(), in[0]->shape.begin() + normalised_axis);
  shape.insert(shape.end(), in[1]->shape.begin(), in[1]->shape.end());
  shape.insert(shape.end(), in[0]->shape.begin() + normalised_axis + 1, in[0]->shape.end());
  return std::vector{ir::reshape(ir::concat(std::move(parts), normalised_axis), std::move(shape))};
}

}  // namespace

OP(gather) {
    .name = "Gather",
    .since_version = 13,
    .inputs = {{"data", "indices"}},
    .attributes = {{"axis: int = 0"}},
    .infer = infer_gather,
    .loop_form = form_of_gather,
    .fold = fold_gather,
    .reference = reference_of_gather,
    .samples = {{"f32[5,3], i64[2] = [0, 4]", "f32[5,3], i64[2,2] = [0, -1, -5, 2]", "f32[2,5,3], i32[3] = [1, 1, 0]; axis=1",
                 "f16[4], i64[] = 2", "i64[3,2], i64[0] = []; axis=-1", "bool[2,3], i64[] = -1; axis=1", "f64[4,2], i64[3] in 0..3"}},
};

}  // namespace tenon::ops::op_gather
