// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_gather_elements {

namespace {

Result<LoopForm> form_of_gather_elements(const NodeView& view) {
  TRY(require_known_ranks(view));
  const int rank = view.rank(0);
  const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), rank));
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  std::vector<Expr> index = axis_indices(rank);
  index[static_cast<size_t>(axis)] = wrapped_index(load(loop, operand_access(view, 1, axis_indices(rank))), view.type(0).dim(axis));
  const Expr value = load(loop, operand_access(view, 0, std::move(index)));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_gather_elements(Call& call) {
  const Tensor &x = *call.in[0], &indices = *call.in[1];
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
  if (indices.rank() != x.rank()) return refuse(call.view, Code::rank_mismatch, "data and indices differ in rank");
  for (size_t d = 0; d < x.shape().size(); ++d)
    if (d != axis && indices.shape()[d] > x.shape()[d]) return refuse(call.view, Code::shape_mismatch, "indices reach beyond the data");
  const Sizes strides = strides_of(x.shape());
  Tensor* out = TRY(call.make(0, indices.shape()));
  Sizes at(indices.shape().size(), 0);
  for (int64_t i = 0; i < out->count(); ++i) {
    Sizes from = at;
    from[axis] = TRY(wrap_index(call.view, indices.integer(i), x.shape()[axis]));
    copy_element(*out, i, x, offset_of(from, strides));
    next_index(at, indices.shape());
  }
  return {};
}

}  // namespace

OP(gather_elements) {
    .name = "GatherElements",
    .since_version = 13,
    .inputs = {{"data", "indices"}},
    .attributes = {{"axis: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, is_index, "i32 or i64"));
      if (ranks_known(view, {0, 1})) TRY(require_rank(view, 1, view.rank(0)));
      if (ranks_known(view, {0})) {
        const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0)));
        for (int k = 0; view.type(1).has_rank() && k < view.rank(0); ++k)
          if (k != axis) TRY(require_at_least(view, view.type(0).dim(k), view.type(1).dim(k), "the indices are larger than the data"));
      }
      Type type(dtype_of(view, 0));
      type.shape = view.type(1).shape;
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = form_of_gather_elements,
    .reference = reference_of_gather_elements,
    .first_opset = 11,
    .samples = {{"f32[3,3], i64[2,3] = [1, 2, 0, 2, 0, -3]", "f32[2,4], i64[2,2] in -4..3; axis=1", "f16[4], i32[2] = [3, -1]",
                 "i64[3,2], i64[0,2]; axis=0", "bool[2,2,2], i64[1,2,2] in 0..1; axis=-1"}},
};

}  // namespace tenon::ops::op_gather_elements
