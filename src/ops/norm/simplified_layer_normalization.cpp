// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime keeps this op of its own in ONNX's domain, where it was before RMSNormalization came with opset 23.
#include "ops/definition/precision.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/norm/statistics.h"

namespace tenon::ops::op_simplified_layer_normalization {

namespace {

DType stash_dtype(const NodeView& view) { return view.attributes->integer("stash_type", 1) == 16 ? DType::bf16 : DType::f32; }

/// The type of the result 1 / rms: normalised axes have size 1.
Result<Type> statistics_type(const NodeView& view) {
  Type out(stash_dtype(view));
  if (view.type(0).has_rank()) out.shape = reduced_shape(*view.type(0).shape, axes_from(TRY(axis_attribute(view)), view.rank(0)), true);
  return out;
}

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_arithmetic_float, "a float type"));
  Type out = view.type(0);
  out.dtype = dtype_of(view, 1);
  if (ranks_known(view, {0, 1})) { TRY(require_broadcastable(view, *view.type(1).shape, *out.shape, "sizes of scale and of X")); }
  set_output(view, 0, std::move(out));
  set_output(view, 1, TRY(statistics_type(view)));
  return {};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  std::vector<std::pair<std::string, ir::Attribute>> how;
  for (const auto& [name, value] : *view.attributes) how.emplace_back(name, value);
  const ir::ValueId y = build("RMSNormalization", {in[0], in[1]}, std::move(how));
  if (view.outputs.size() < 2) return {y};
  const auto axes = normalised_axes(view);
  if (!axes) return {};
  const DType dtype = view.type(0).dtype, wide = definition_dtype(dtype);
  const ir::ValueId x = as_dtype(build, in[0], dtype, wide);
  const ir::ValueId root = define_root_mean_square(build, x, wide, *axes, view.attributes->number("epsilon", 1e-5f));
  return {y, as_dtype(build, root, wide, stash_dtype(view))};
}

}  // namespace

OP(simplified_layer_normalization) {
    .name = "SimplifiedLayerNormalization",
    .inputs = {{"X", "scale"}},
    .outputs = {{"Y", "inv_std_var?"}},
    .attributes = {{"axis: int = -1", "epsilon: float = 1e-05", "stash_type: int = 1"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,3,8], f32[8]", "f16[3,16], f16[16]", "f64[2,5], f64[5]; epsilon=0.5", "f32[2,3,4], f32[4]; outputs=2",
                 "f16[2,3,4], f16[3,4]; axis=1, outputs=2"}},
};

}  // namespace tenon::ops::op_simplified_layer_normalization
