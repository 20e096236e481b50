// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/shape/same_bytes.h"
#include "ops/versions/adapters.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_squeeze {

namespace {

Result<std::vector<int>> squeezed(const NodeView& view, const std::optional<Ints>& axes, int rank, const std::function<bool(int)>& is_one) {
  if (axes) return normalise_axes(view, *axes, rank);
  std::vector<int> ones;
  for (int a = 0; a < rank; ++a) {
    if (is_one(a)) ones.push_back(a);
  }
  return ones;
}

Result<void> infer_squeeze(NodeView& view) {
  Type type(dtype_of(view, 0));
  const auto axes = view.has(1) ? known_ints(view, 1) : std::nullopt;
  // Without axes, a size that may be 1 makes the rank of the result unknown.
  const bool settled = ranks_known(view, {0}) &&
                       std::all_of(view.type(0).shape->begin(), view.type(0).shape->end(), [](Dim d) { return d.equals(1).has_value(); });
  if (ranks_known(view, {0}) && (axes || (!view.has(1) && settled))) {
    DimList shape = *view.type(0).shape;
    const std::vector<int> gone = TRY(squeezed(view, axes, view.rank(0), [&](int a) { return shape[static_cast<size_t>(a)] == Dim(1); }));
    for (size_t i = gone.size(); i-- > 0;) {
      TRY(require_equal(view, 1, shape[static_cast<size_t>(gone[i])], "the size of a squeezed axis and 1"));
      shape.erase(shape.begin() + gone[i]);
    }
    type.shape = std::move(shape);
  }
  set_output(view, 0, std::move(type));
  pass_data(view);
  return {};
}

Result<LoopForm> form_of_squeeze(const NodeView& view) {
  TRY(require_known_ranks(view));
  const auto axes = view.has(1) ? known_ints(view, 1) : std::nullopt;
  if (view.has(1) && !axes) return refuse(view, Code::not_supported, "not supported yet: a loop form for axes that are not known");
  const std::vector<int> gone = TRY(squeezed(view, axes, view.rank(0), [&](int a) { return view.type(0).dim(a) == Dim(1); }));
  std::vector<Expr> index;
  for (int a = 0, next = 0; a < view.rank(0); ++a) {
    const bool dropped = std::find(gone.begin(), gone.end(), a) != gone.end();
    index.push_back(dropped ? index_constant(0) : Expr::axis(next++));
  }
  return index_form(view, 0, std::move(index));
}

Result<void> reference_of_squeeze(Call& call) {
  const Tensor& x = *call.in[0];
  const std::optional<Ints> axes = call.has(1) ? std::optional(ints_of(call, 1)) : std::nullopt;
  Sizes shape = x.shape();
  const std::vector<int> gone = TRY(squeezed(call.view, axes, x.rank(), [&](int a) { return shape[static_cast<size_t>(a)] == 1; }));
  for (size_t i = gone.size(); i-- > 0;) {
    if (shape[static_cast<size_t>(gone[i])] != 1) return refuse(call.view, Code::shape_mismatch, "a squeezed axis is not of size 1");
    shape.erase(shape.begin() + gone[i]);
  }
  call.out[0] = x.reshaped(shape);
  return {};
}

}  // namespace

OP(squeeze) {
    .name = "Squeeze",
    .since_version = 25,
    .inputs = {{"data", "axes?"}},
    .outputs = {{"squeezed"}},
    .same_bytes = true,
    .infer = infer_squeeze,
    .loop_form = form_of_squeeze,
    .fold = fold_same_bytes,
    .reference = reference_of_squeeze,
    .upgrade = [](ir::Graph& graph, ir::NodeId node,
                  int opset) { return opset < 13 ? attribute_to_operand(graph, node, "axes", 1) : Result<void>(); },
    .lowest_opset = [](const NodeView& view) { return !view.has(1) || view.inputs[1].constant ? 7 : 13; },
    .downgrade = axes_downgrade,
    .samples = {{"f32[2,1,3], i64[1] = [1]", "f32[1,2,1], i64[2] = [0, -1]", "f16[1,3,1]", "i64[1,0], i64[1] = [0]", "bool[1]",
                 "f64[1,1], i64[1] = [-2]"}},
};

}  // namespace tenon::ops::op_squeeze
