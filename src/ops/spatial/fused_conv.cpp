// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"
#include "ops/infer/require.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_fused_conv {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  for (size_t k : {1, 2, 3})
    if (view.has(k)) TRY(require_same_dtype(view, 0, k));
  TRY(infer_conv(view, 0, 1, 2, dtype_of(view, 0)));
  const Type& out = view.outputs[0];
  if (!view.has(3) || !view.type(3).has_rank() || !out.has_rank()) return {};
  if (view.type(3).rank() != out.rank()) return refuse(view, Code::rank_mismatch, "Z has the shape of Y").found(view.type(3).text());
  for (int k = 0; k < out.rank(); ++k) TRY(require_equal(view, out.dim(k), view.type(3).dim(k), "sizes of Y and Z"));
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  ir::Attributes conv;
  for (const auto& [name, value] : *view.attributes)
    if (!name.starts_with("activation")) conv.set(name, value);
  const ir::ValueId bias = view.has(2) ? in[2] : ir::ValueId{};
  ir::ValueId y = build.many(*build.graph().ops().find("", "Conv"), {in[0], in[1], bias}, 1, std::move(conv))[0];
  if (view.has(3)) y = build("Add", {y, in[3]});
  const auto out =
      activated(build, y, view.type(0).dtype, view.attributes->text("activation", ""), view.attributes->floats("activation_params"));
  return out ? std::vector{*out} : std::vector<ir::ValueId>{};
}

}  // namespace

OP(fused_conv) {
    .name = "FusedConv",
    .domain = "com.microsoft",
    .inputs = {{"X", "W", "B?", "Z?"}},
    .outputs = {{"Y"}},
    .attributes = {{"activation: string", "activation_params: floats", "auto_pad: string = NOTSET", "dilations: ints", "group: int = 1",
                    "kernel_shape: ints", "pads: ints", "strides: ints"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[1,3,8,8], f32[4,3,3,3], f32[4]; pads=[1,1,1,1], activation=Relu",
                 "f32[1,3,8,8], f32[4,3,3,3], _, f32[1,4,6,6]; activation=Clip, activation_params=[0.0,6.0]",
                 "f32[1,4,5,5], f32[6,2,1,1]; group=2, activation=LeakyRelu, activation_params=[0.1]",
                 "f32[1,3,8], f32[4,3,3]; strides=[2]"}},
};

}  // namespace tenon::ops::op_fused_conv
