// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime keeps this op of its own in ONNX's domain, where it stood before RMSNormalization came with opset 23.
#include "ops/infer/require.h"

namespace tenon::ops::op_simplified_layer_normalization {

namespace {

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_real_arithmetic, "a float type"));
  Type out = view.type(0);
  out.dtype = dtype_of(view, 1);
  if (ranks_known(view, {0, 1})) { TRY(require_spreads(view, *view.type(1).shape, *out.shape, "sizes of scale and of X")); }
  set_output(view, 0, std::move(out));
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  std::vector<std::pair<std::string, ir::Attribute>> how;
  for (const auto& [name, value] : *view.attributes) how.emplace_back(name, value);
  return {build("RMSNormalization", {in[0], in[1]}, std::move(how))};
}

}  // namespace

OP(simplified_layer_normalization) {
    .name = "SimplifiedLayerNormalization",
    .inputs = {{"X", "scale"}},
    .outputs = {{"Y"}},
    .attributes = {{"axis: int = -1", "epsilon: float = 1e-05", "stash_type: int = 1"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,8], f32[8]", "f16[3,16], f16[16]", "f64[2,5], f64[5]; epsilon=0.5"}},
};

}  // namespace tenon::ops::op_simplified_layer_normalization
