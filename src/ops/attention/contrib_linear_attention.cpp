// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_contrib_linear_attention {

namespace {

/// ONNX's op of the same name. A window of past states is not supported.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (view.attributes->integer("state_window", 0) != 0) return {};
  std::vector<std::pair<std::string, ir::Attribute>> how;
  for (const auto& [name, value] : *view.attributes)
    if (name != "state_window") how.emplace_back(name, value);
  return build.many("LinearAttention", {in.begin(), in.end()}, 2, std::move(how));
}

}  // namespace

OP(contrib_linear_attention) {
    .name = "LinearAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key", "value", "past_state?", "decay?", "beta?"}},
    .outputs = {{"output", "present_state"}},
    .attributes = {{"chunk_size: int = 64", "kv_num_heads: int!", "q_num_heads: int!", "scale: float = 0.0", "state_window: int = 0",
                    "update_rule: string = gated_delta"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples =
        {{"f32[2,3,8], f32[2,3,8], f32[2,3,6]; q_num_heads=2, kv_num_heads=2, update_rule=linear, outputs=2",
          "f32[1,4,8], f32[1,4,4], f32[1,4,6], f32[1,2,2,3], f32[1,4,2]; q_num_heads=4, kv_num_heads=2, update_rule=gated, outputs=2"}},
};

}  // namespace tenon::ops::op_contrib_linear_attention
