// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "nn/decoder/parts.h"

namespace tenon::nn {
namespace {

ir::ValueId activated(ir::Builder& build, Activation activation, ir::ValueId x) {
  switch (activation) {
    case Activation::silu: return build("Swish", {x});
    case Activation::gelu: return build("Gelu", {x});
    case Activation::gelu_tanh: return build("Gelu", {x}, {{"approximate", std::string("tanh")}});
    case Activation::relu: return build("Relu", {x});
  }
  return {};
}

}  // namespace

ir::ValueId feed_forward(DecoderParts& parts, int64_t layer, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  const std::string prefix = fmt::format("blk.{}.", layer);
  WeightReader& w = parts.weights;
  ir::ValueId inner;
  if (!c.gated) {
    inner = w.linear(prefix + "ffn_up", x, c.width, c.inner_width);
    if (inner) inner = activated(parts.build, c.activation, inner);
  } else {
    // Phi-3 joins them: rows of the gate, then those of up. Where both are missing, the error names both.
    const bool is_joint = !w.has(prefix + "ffn_gate.weight") && w.has(prefix + "ffn_up.weight") &&
                          !w.has_shape(prefix + "ffn_up.weight", {c.inner_width, c.width});
    const int64_t all = is_joint ? 2 * c.inner_width : c.inner_width;
    const ir::ValueId gate = w.linear_part(prefix + (is_joint ? "ffn_up" : "ffn_gate"), x, c.width, all, 0, c.inner_width);
    const ir::ValueId up = w.linear_part(prefix + "ffn_up", x, c.width, all, all - c.inner_width, c.inner_width);
    if (gate && up) inner = parts.build("Mul", {activated(parts.build, c.activation, gate), up});
  }
  return w.linear(prefix + "ffn_down", inner, c.inner_width, c.width);
}

}  // namespace tenon::nn
