// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "ops/core/replace_node.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/random/draw.h"
#include "ops/reference/arguments.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_dropout {

namespace {

/// Whether the node drops nothing, for any values of non-constant operands.
bool drops_nothing(const NodeView& view) { return !view.has(2) || known_number(view, 2) == 0.0 || known_number(view, 1) == 0.0; }

/// The mask of elements that are kept where the node has a seed: one uniform number an element, drawn as numpy's RandomState(seed) draws
/// it, which the suite of ONNX expects; iterations of loops have seeds of their own.
std::vector<int64_t> kept_by_seed(const Call& call, int64_t count, double ratio) {
  const RandomScope& at = call.random;
  const uint32_t place = at.step == 0 ? 0 : RandomScope{0, at.path, at.step}.block(0, 0)[0];
  std::mt19937 draw(static_cast<uint32_t>(call.view.attributes->integer("seed", 0)) ^ place);
  std::vector<int64_t> keep(static_cast<size_t>(count));
  for (int64_t& k : keep) {
    const double high = static_cast<double>(draw() >> 5), low = static_cast<double>(draw() >> 6);
    k = (high * 0x1p26 + low) * 0x1p-53 >= ratio ? 1 : 0;
  }
  return keep;
}

std::vector<int64_t> kept(const Call& call, int64_t count, double ratio) {
  if (call.view.attributes->has("seed")) return kept_by_seed(call, count, ratio);
  const Draws draws(call);
  std::vector<int64_t> keep(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) keep[static_cast<size_t>(k)] = draws.uniform(k) >= ratio;
  return keep;
}

Result<void> reference_of_dropout(Call& call) {
  const Tensor& x = *call.in[0];
  const double ratio = number_of(call, 1, 0.5);
  const bool drops = int_of(call, 2, 0) != 0 && ratio != 0;
  if (drops && !(ratio > 0 && ratio < 1))
    return refuse(call.view, Code::bad_input, "ratio must lie in [0, 1)").found(std::to_string(ratio));
  const std::vector<int64_t> keep = drops ? kept(call, x.count(), ratio) : std::vector<int64_t>(static_cast<size_t>(x.count()), 1);
  if (drops) {
    Tensor& y = *TRY(call.make(0, x.shape()));
    for (int64_t i = 0; i < x.count(); ++i) y.set_number(i, keep[static_cast<size_t>(i)] ? x.number(i) / (1 - ratio) : 0);
  } else {
    call.out[0] = x;
  }
  if (call.out.size() > 1) store_integers(*TRY(call.make(1, x.shape())), keep);
  return {};
}

Result<LoopForm> form_of_dropout(const NodeView& view) {
  TRY(require_known_ranks(view));
  if (!drops_nothing(view)) return refuse(view, Code::not_supported, "not supported yet: a loop form in training mode");
  Loop loop;
  loop.axes = parallel_axes(*view.outputs[0].shape);
  const Expr x = load(loop, operand_access(view, 0, axis_indices(view.rank(0))));
  loop.outputs.push_back(full_output(view.outputs[0].dtype, *view.outputs[0].shape, x));
  if (view.outputs.size() > 1)
    loop.outputs.push_back(full_output(DType::boolean, *view.outputs[1].shape, Expr::integer(DType::boolean, 1)));
  return single_loop_form(std::move(loop));
}

/// Before opset 10 the mask had the data's dtype.
Result<void> typed_mask(ir::Graph& graph, ir::NodeId node) {
  if (graph.node(node).outputs.size() < 2 || !graph.node(node).outputs[1]) return {};
  return replace_node(graph, node, [&](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> out = build.many("Dropout", std::vector<ir::ValueId>(in.begin(), in.end()), 2);
    out[1] = build("CastLike", {out[1], in[0]});
    return out;
  });
}

/// Before opset 7 attribute `is_test` replaces operand `training_mode`; opsets 7 to 11 have inference mode only.
Result<void> upgrade_dropout(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 12) return {};
  const ir::Attributes& a = graph.node(node).attributes;
  if (opset < 7 && a.integer("is_test", 0) == 0) {
    const float ratio = a.number("ratio", 0.5f);
    put_operand(graph, node, 1, graph.add_constant(ir::constant_of(Tensor::scalar(DType::f32, ratio))));
    put_operand(graph, node, 2, graph.add_constant(ir::constant_of(Tensor::scalar(DType::boolean, 1))));
  }
  graph.erase_attribute(node, "is_test");
  graph.erase_attribute(node, "ratio");
  return opset < 10 ? typed_mask(graph, node) : Result<void>();
}

}  // namespace

OP(dropout) {
    .name = "Dropout",
    .since_version = 22,
    .inputs = {{"data", "ratio?", "training_mode?"}},
    .outputs = {{"output", "mask?"}},
    .attributes = {{"seed: int", "stream: int"}},
    .random_switch_operand = 2,
    .same_bytes = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_same_type(view));
      Type mask = view.outputs[0];
      mask.dtype = DType::boolean;
      set_output(view, 1, std::move(mask));
      return {};
    },
    .loop_form = form_of_dropout,
    .reference = reference_of_dropout,
    .upgrade = upgrade_dropout,
    .lowest_opset = [](const NodeView& view) { return view.has(1) || view.has(2) || view.attributes->has("seed") ? 12 : 10; },
    .samples = {{"f32[2,3]", "f32[4]; outputs=2", "f16[0], f32[] = 0.3", "f64[], f32[] = 0, bool[] = 1",
                 "f32[3,5], f32[] = 0.25, bool[] = 1; outputs=2, seed=7", "f16[4], _, bool[] = 0"}},
};

}  // namespace tenon::ops::op_dropout
