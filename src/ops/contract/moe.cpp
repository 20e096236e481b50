// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_moe {

namespace {

enum Input : size_t { kX, kRouter, kFirst, kFirstBias, kSecond, kSecondBias };

/// [experts, tokens, out]: the linear map of every expert, with weights [experts, out, in], applied to `x`.
ir::ValueId expert_outputs(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, ir::ValueId x, size_t weights) {
  const ir::ValueId y = build("MatMul", {x, build("Transpose", {in[weights]}, {{"perm", Ints{0, 2, 1}}})});
  return view.has(weights + 1) ? build("Add", {y, build("Unsqueeze", {in[weights + 1], build.ints({1})})}) : y;
}

ir::ValueId activation(ir::Builder& build, ir::ValueId x, const std::string& name) {
  if (name == "relu") return build("Relu", {x});
  if (name == "gelu") return build("Gelu", {x}, {{"approximate", std::string("tanh")}});  // as ONNX Runtime computes it
  if (name == "silu") return build("Swish", {x});
  return name == "identity" ? x : ir::ValueId{};
}

/// [experts, tokens, 1]: the weight of each expert for each token; 0 except for the `k` experts of the largest router scores.
ir::ValueId expert_weights(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  const ir::ValueId router_weights = build("Softmax", {in[kRouter]}, {{"axis", int64_t{-1}}});
  const auto selected = build.many("TopK", {router_weights, build.ints({a.integer("k", 1)})}, 2, {{"axis", int64_t{-1}}});
  ir::ValueId weights = selected[0];
  if (a.integer("normalize_routing_weights", 0) != 0) weights = build("Div", {weights, build("ReduceSum", {weights, build.ints({-1})})});
  const ir::ValueId zeros = build("Expand", {scalar_like(build, router_weights, 0), build("Shape", {router_weights})});
  const ir::ValueId all = build("ScatterElements", {zeros, selected[1], weights}, {{"axis", int64_t{1}}});
  return build("Unsqueeze", {build("Transpose", {all}, {{"perm", Ints{1, 0}}}), build.ints({2})});
}

/// Gated activations (a third linear map, or two in one) are not supported.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  if (!ranks_known(view, {kX, kRouter}) || view.explicit_inputs > 6 || a.integer("use_sparse_mixer", 0) != 0) return {};
  if (!view.type(kX).dim(-1).is_number()) return {};
  const ir::ValueId rows = build("Reshape", {in[kX], build.ints({1, -1, view.type(kX).dim(-1).value()})});
  const ir::ValueId hidden = activation(build, expert_outputs(build, view, in, rows, kFirst), a.text("activation_type", "relu"));
  if (!hidden) return {};
  const ir::ValueId weights = expert_weights(build, view, in), zero = scalar_like(build, weights, 0);
  // Experts that are not selected add 0, though their outputs may be infinite.
  const ir::ValueId weighted = build("Mul", {expert_outputs(build, view, in, hidden, kSecond), weights});
  const ir::ValueId of_selected = build("Where", {build("Equal", {weights, zero}), zero, weighted});
  const ir::ValueId sum = build("ReduceSum", {of_selected, build.ints({0})}, {{"keepdims", int64_t{0}}});
  return {build("Reshape", {sum, build("Shape", {in[kX]})}, {{"allowzero", int64_t{1}}})};
}

Result<void> infer(NodeView& view) {
  TRY(require_rank(view, kX, 2, 3));
  TRY(require_rank(view, kRouter, 2));
  for (size_t k : {kFirst, kSecond}) TRY(require_rank(view, k, 3));
  return infer_same_type(view);
}

}  // namespace

OP(moe) {
    .name = "MoE",
    .domain = "com.microsoft",
    .inputs = {{"input", "router_probs", "fc1_experts_weights", "fc1_experts_bias?", "fc2_experts_weights", "fc2_experts_bias?",
                "fc3_experts_weights?", "fc3_experts_bias?"}},
    .outputs = {{"output"}},
    .attributes = {{"activation_alpha: float = 1.0", "activation_beta: float = 0.0", "activation_type: string = relu", "k: int = 1",
                    "normalize_routing_weights: int = 0", "swiglu_fusion: int = 0", "swiglu_limit: float", "use_sparse_mixer: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[5,8], f32[5,4], f32[4,6,8], f32[4,6], f32[4,8,6], f32[4,8]",
                 "f32[2,3,8], f32[6,4], f32[4,6,8], _, f32[4,8,6]; k=2, normalize_routing_weights=1, activation_type=silu"}},
};

}  // namespace tenon::ops::op_moe
