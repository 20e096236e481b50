// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_fused_mat_mul_activation {

namespace {

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  ir::Attributes product;
  ir::Floats parameters;
  for (const auto& [name, value] : *view.attributes)
    if (!name.starts_with("activation")) product.set(name, value);
  for (std::string_view name : {"activation_alpha", "activation_beta"})
    if (view.attributes->has(name)) parameters.push_back(view.attributes->number(name, 0));
  const ir::ValueId y = build.many(*build.graph().ops().find("com.microsoft", "FusedMatMul"), {in[0], in[1]}, 1, std::move(product))[0];
  const auto out = activated(build, y, view.type(0).dtype, view.attributes->text("activation", ""), parameters);
  return out ? std::vector{*out} : std::vector<ir::ValueId>{};
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  return infer_by_definition(view);
}

}  // namespace

OP(fused_mat_mul_activation) {
    .name = "FusedMatMulActivation",
    .domain = "com.microsoft",
    .inputs = {{"A", "B"}},
    .outputs = {{"Y"}},
    .attributes = {{"activation: string", "activation_alpha: float", "activation_axis: int", "activation_beta: float",
                    "activation_gamma: float", "alpha: float = 1.0", "transA: int = 0", "transB: int = 0", "transBatchA: int = 0",
                    "transBatchB: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,4], f32[4,5]; activation=Relu", "f32[4,3], f32[5,4]; transA=1, transB=1, activation=Tanh, alpha=0.5",
                 "f32[3,4], f32[4,5]; activation=LeakyRelu, activation_alpha=0.2",
                 "f32[2,3,4], f32[2,4,5]; activation=HardSigmoid, activation_alpha=0.3, activation_beta=0.4"}},
};

}  // namespace tenon::ops::op_fused_mat_mul_activation
