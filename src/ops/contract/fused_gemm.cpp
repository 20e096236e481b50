// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_fused_gemm {

namespace {

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  ir::Attributes gemm;
  ir::Floats parameters;
  for (const auto& [name, value] : *view.attributes)
    if (!name.starts_with("activation")) gemm.set(name, value);
  for (std::string_view name : {"activation_alpha", "activation_beta"})
    if (view.attributes->has(name)) parameters.push_back(view.attributes->number(name, 0));
  const ir::ValueId c = view.has(2) ? in[2] : ir::ValueId{};
  const ir::ValueId y = build.many(*build.graph().ops().find("", "Gemm"), {in[0], in[1], c}, 1, std::move(gemm))[0];
  const auto out = activated(build, y, view.type(0).dtype, view.attributes->text("activation", ""), parameters);
  return out ? std::vector{*out} : std::vector<ir::ValueId>{};
}

}  // namespace

OP(fused_gemm) {
    .name = "FusedGemm",
    .domain = "com.microsoft",
    .inputs = {{"A", "B", "C?"}},
    .outputs = {{"Y"}},
    .attributes = {{"activation: string", "activation_alpha: float", "activation_beta: float", "activation_gamma: float",
                    "alpha: float = 1.0", "beta: float = 1.0", "transA: int = 0", "transB: int = 0"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[3,4], f32[4,5], f32[5]; activation=Relu", "f32[3,4], f32[5,4]; transB=1, activation=LeakyRelu, activation_alpha=0.2",
                 "f32[3,4], f32[4,5], f32[3,1]; alpha=0.5, activation=Tanh"}},
};

}  // namespace tenon::ops::op_fused_gemm
