// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_center_crop_pad {

namespace {

Result<std::vector<int>> chosen_axes(const NodeView& view, int rank) {
  if (view.attributes->has("axes")) return normalise_axes(view, view.attributes->ints("axes"), rank, false);
  std::vector<int> all;
  for (int a = 0; a < rank; ++a) all.push_back(a);
  return all;
}

}  // namespace

OP(center_crop_pad) {
    .name = "CenterCropPad",
    .since_version = 18,
    .inputs = {{"input_data", "shape"}},
    .outputs = {{"output_data"}},
    .attributes = {{"axes: ints"}},
    .infer = [](NodeView& view) -> Result<void> {
      Type type(dtype_of(view, 0));
      if (ranks_known(view, {0})) {
        const auto wanted = known_elements(view, 1);
        const std::vector<int> axes = TRY(chosen_axes(view, view.rank(0)));
        if (wanted && wanted->size() != axes.size()) return refuse(view, Code::shape_mismatch, "shape has a wrong length");
        type.shape = view.type(0).shape;
        for (size_t i = 0; i < axes.size(); ++i)
          (*type.shape)[static_cast<size_t>(axes[i])] = wanted ? (*wanted)[i] : view.symbols->fresh();
      }
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      std::vector<Expr> index = axis_indices(view.rank(0));
      Expr within;
      for (int a : TRY(chosen_axes(view, view.rank(0)))) {
        const Dim from = view.type(0).dim(a), to = view.outputs[0].dim(a);
        Expr& at = index[static_cast<size_t>(a)];
        at = at + size_expr(floor_div(max(from - to, 0), 2) - floor_div(max(to - from, 0), 2));
        const Expr here = logical_and(index_constant(0) <= at, at < size_expr(from));
        within = within ? logical_and(within, here) : here;
      }
      const DType d = dtype_of(view, 0);
      return index_form(view, 0, std::move(index), within, within ? is_float(d) ? Expr::constant(d, 0) : Expr::integer(d, 0) : Expr());
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      const std::vector<int> axes = TRY(chosen_axes(call.view, x.rank()));
      const Ints wanted = ints_of(call, 1);
      if (wanted.size() != axes.size()) return refuse(call.view, Code::shape_mismatch, "shape has a wrong length");
      Sizes shape = x.shape(), shift(shape.size(), 0);
      for (size_t i = 0; i < axes.size(); ++i) {
        const size_t a = static_cast<size_t>(axes[i]);
        shape[a] = wanted[i];
        shift[a] = wanted[i] < x.shape()[a] ? (x.shape()[a] - wanted[i]) / 2 : -((wanted[i] - x.shape()[a]) / 2);
      }
      const Sizes strides = strides_of(x.shape());
      return gather_elements(call, x, shape, [&](const Sizes& at) {
        int64_t position = 0;
        for (size_t d = 0; d < at.size(); ++d) {
          const int64_t from = at[d] + shift[d];
          if (from < 0 || from >= x.shape()[d]) return int64_t{-1};
          position += from * strides[d];
        }
        return position;
      });
    },
    .first_opset = 18,
    .samples = {{"f32[4,5], i64[2] = [2, 7]", "f32[3,4,2], i64[1] = [7]; axes=[1]", "i64[5], i64[1] = [2]",
                 "f16[2,2], i64[2] = [3, 3]; axes=[-1, 0]"}},
};

}  // namespace tenon::ops::op_center_crop_pad
