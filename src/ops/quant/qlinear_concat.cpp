// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_concat {

namespace {

enum Input : size_t { kScale, kZero, kParts };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (in.size() <= kParts || (in.size() - kParts) % 3 != 0) return {};
  std::vector<ir::ValueId> parts;
  for (size_t k = kParts; k < in.size(); k += 3) parts.push_back(dequantized(build, in, k));
  const ir::ValueId y = build("Concat", std::move(parts), {{"axis", view.attributes->integer("axis", 0)}});
  return {quantized(build, y, in, kScale, view.type(kZero).dtype)};
}

}  // namespace

/// The operands of each part are a tensor, its scale and its zero point.
OP(qlinear_concat) {
    .name = "QLinearConcat",
    .domain = "com.microsoft",
    .inputs = {{"Y_scale", "Y_zero_point", "inputs*"}},
    .outputs = {{"Y"}},
    .attributes = {{"axis: int!"}},
    .infer = [](NodeView& view) -> Result<void> {
      if (view.explicit_inputs <= kParts || (view.explicit_inputs - kParts) % 3 != 0)
        return refuse(view, Code::bad_graph, "parts come as a tensor, its scale and its zero point")
            .expected("2 operands and 3 a part")
            .found(std::to_string(view.explicit_inputs) + " operands");
      return infer_quantized(view, kZero);
    },
    .definition = define,
    .samples =
        {{"f32[] = 0.05, u8[] = 100, u8[2,3] in 0..255, f32[] = 0.04, u8[] = 128, u8[2,1] in 0..255, f32[] = 0.1, u8[] = 90; axis=1",
          "f32[] = 0.05, i8[] = 0, i8[1,3] in -128..127, f32[] = 0.04, i8[] = 1, i8[2,3] in -128..127, f32[] = 0.05, i8[] = 0; axis=0"}},
};

}  // namespace tenon::ops::op_qlinear_concat
