// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_contrib_causal_conv_with_state {

namespace {

/// ONNX's op of the same name; its other layouts are not supported.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  if (a.integer("ndim", 1) != 1 || a.integer("channels_last", 0) != 0 || a.integer("dilation", 1) != 1 || a.integer("state_window", 0) != 0)
    return {};
  return build.many("CausalConvWithState", {in.begin(), in.end()}, 2, {{"activation", a.text("activation", "none")}});
}

}  // namespace

OP(contrib_causal_conv_with_state) {
    .name = "CausalConvWithState",
    .domain = "com.microsoft",
    .inputs = {{"input", "weight", "bias?", "past_state?"}},
    .outputs = {{"output", "present_state"}},
    .attributes = {{"activation: string = none", "channels_last: int = 0", "dilation: int = 1", "ndim: int = 1", "state_window: int = 0"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[2,3,5], f32[3,1,4]; outputs=2", "f32[2,3,1], f32[3,1,4], f32[3], f32[2,3,3]; outputs=2, activation=silu"}},
};

}  // namespace tenon::ops::op_contrib_causal_conv_with_state
