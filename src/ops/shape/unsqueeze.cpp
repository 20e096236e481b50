// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/axes.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/shape/same_bytes.h"
#include "ops/versions/adapters.h"
#include "ops/versions/attributes.h"
#include "ops/versions/make_explicit.h"

namespace tenon::ops::op_unsqueeze {

namespace {

Result<void> infer_unsqueeze(NodeView& view) {
  Type type(dtype_of(view, 0));
  const auto axes = known_ints(view, 1);
  if (axes && ranks_known(view, {0})) {
    const int rank = view.rank(0) + static_cast<int>(axes->size());
    DimList shape = *view.type(0).shape;
    for (int a : TRY(normalise_axes(view, *axes, rank))) shape.insert(shape.begin() + a, 1);
    type.shape = std::move(shape);
  } else if (const auto added = known_length(view, 1); added && ranks_known(view, {0})) {
    DimList shape;
    for (int64_t i = 0; i < view.rank(0) + *added; ++i) shape.push_back(view.symbols->fresh());
    type.shape = std::move(shape);
  }
  set_output(view, 0, std::move(type));
  pass_data(view);
  return {};
}

Result<void> reference_of_unsqueeze(Call& call) {
  const Tensor& x = *call.in[0];
  const Ints axes = ints_of(call, 1);
  Sizes shape = x.shape();
  for (int a : TRY(normalise_axes(call.view, axes, x.rank() + static_cast<int>(axes.size())))) shape.insert(shape.begin() + a, 1);
  call.out[0] = x.reshaped(shape);
  return {};
}

}  // namespace

OP(unsqueeze) {
    .name = "Unsqueeze",
    .since_version = 25,
    .inputs = {{"data", "axes"}},
    .outputs = {{"expanded"}},
    .same_bytes = true,
    .infer = infer_unsqueeze,
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      return index_form(view, 0, reshape_index(*view.type(0).shape, *view.outputs[0].shape));
    },
    .fold = fold_same_bytes,
    .reference = reference_of_unsqueeze,
    .upgrade = [](ir::Graph& graph, ir::NodeId node,
                  int opset) { return opset < 13 ? attribute_to_operand(graph, node, "axes", 1) : Result<void>(); },
    .lowest_opset = [](const NodeView& view) { return view.inputs[1].constant ? 7 : 13; },
    .downgrade = axes_downgrade,
    .make_explicit = count_result_axes_from_zero,
    .samples = {{"f32[2,3], i64[1] = [1]", "f32[2,3], i64[2] = [0, -1]", "f16[], i64[1] = [0]", "i64[0], i64[1] = [-1]",
                 "bool[2], i64[0] = []"}},
};

}  // namespace tenon::ops::op_unsqueeze
