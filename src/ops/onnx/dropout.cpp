// SPDX-License-Identifier: Apache-2.0
#include "ops/form_helpers.h"
#include "ops/reference_helpers.h"

namespace tenon::ops {

namespace {

/// Only inference is a function; training mode draws.
Result<void> reference_of_dropout(Call& call) {
  if (int_of(call, 2, 0) != 0 && number_of(call, 1, 0.5) != 0) {
    return refuse(call.view, Code::not_supported, "not supported yet: dropping in training mode");
  }
  call.out[0] = *call.in[0];
  if (call.out.size() < 2) return {};
  Tensor* mask = TRY(call.make(1, call.in[0]->shape()));
  store_integers(*mask, std::vector<int64_t>(static_cast<size_t>(mask->count()), 1));
  return {};
}

Result<LoopForm> form_of_dropout(const NodeView& view) {
  TRY(require_ranks(view));
  if (view.has(2)) return refuse(view, Code::not_supported, "not supported yet: dropping in training mode");
  Loop loop;
  loop.axes = parallel_axes(*view.outputs[0].shape);
  const Expr x = load(loop, read(view, 0, axis_indices(view.rank(0))));
  loop.outputs.push_back(whole(view.outputs[0].dtype, *view.outputs[0].shape, x));
  if (view.outputs.size() > 1) loop.outputs.push_back(whole(DType::boolean, *view.outputs[1].shape, Expr::integer(DType::boolean, 1)));
  return single(std::move(loop));
}

Result<void> upgrade_dropout(ir::Graph& graph, ir::NodeId node, int opset) {
  graph.erase_attribute(node, "is_test");
  if (opset >= 12) return {};
  graph.erase_attribute(node, "ratio");  // without training_mode it has no effect
  return {};
}

}  // namespace

OP(dropout) {
    .name = "Dropout",
    .since = 22,
    .inputs = {"data", "ratio?", "training_mode?"},
    .outputs = {"output", "mask?"},
    .attributes = {"seed: int"},
    .same_bytes = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(same_shape_and_dtype(view));
      Type mask = view.outputs[0];
      mask.dtype = DType::boolean;
      set_output(view, 1, std::move(mask));
      return {};
    },
    .form = form_of_dropout,
    .reference = reference_of_dropout,
    .upgrade = upgrade_dropout,
    .lowest_opset = [](const NodeView& view) { return view.has(1) || view.has(2) || view.attributes->has("seed") ? 12 : 10; },
    .samples = {"f32[2,3]", "f32[4]; outputs=2", "f16[0], f32[] = 0.3", "f64[], f32[] = 0, bool[] = 1"},
};

}  // namespace tenon::ops
