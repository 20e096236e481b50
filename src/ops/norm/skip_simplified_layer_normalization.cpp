// SPDX-License-Identifier: Apache-2.0
#include "ops/norm/skip_norm.h"

namespace tenon::ops::op_skip_simplified_layer_normalization {

namespace {

/// The schema has a result `mean`, which ONNX Runtime leaves empty; so does the definition.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  ir::ValueId sum = build("Add", {in[0], in[1]});
  if (view.has(3)) sum = build("Add", {sum, in[3]});
  const ir::ValueId y =
      build("RMSNormalization", {sum, in[2]}, {{"axis", int64_t{-1}}, {"epsilon", view.attributes->number("epsilon", 1e-12f)}});
  std::vector<ir::ValueId> out{y, {}, {}, sum};
  out.resize(std::max<size_t>(view.outputs.size(), 1));
  return out;
}

}  // namespace

OP(skip_simplified_layer_normalization) {
    .name = "SkipSimplifiedLayerNormalization",
    .domain = "com.microsoft",
    .inputs = {{"input", "skip", "gamma", "bias?"}},
    .outputs = {{"output", "mean?", "inv_std_var?", "input_skip_bias_sum?"}},
    .attributes = {{"epsilon: float = 1e-12"}},
    .infer = infer_skip_norm,
    .definition = define,
    .samples = {{"f32[2,3,8], f32[2,3,8], f32[8]", "f32[2,3,8], f32[2,3,8], f32[8], f32[8]; epsilon=0.001",
                 "f16[1,2,8], f16[1,2,8], f16[8]; epsilon=0.01"}},
};

}  // namespace tenon::ops::op_skip_simplified_layer_normalization
