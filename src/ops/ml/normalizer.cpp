// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_normalizer {

namespace {

/// The norm by which a row is divided; 1 where it is 0.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const std::string norm = view.attributes->text("norm", "MAX");
  const DType wide = view.type(0).dtype == DType::f64 ? DType::f64 : DType::f32;
  const ir::ValueId x = cast_to(build, in[0], wide);
  const ir::ValueId size = build(norm == "MAX" ? "ReduceMax" : norm == "L1" ? "ReduceL1" : "ReduceL2", {x, build.ints({-1})});
  const ir::ValueId none = build("Equal", {size, build.scalar(wide, 0)});
  return {cast_to(build, build("Div", {x, build("Where", {none, build.scalar(wide, 1), size})}), DType::f32)};
}

}  // namespace

OP(normalizer) {
    .name = "Normalizer",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"norm: string = MAX"}},
    .infer = [](NodeView& view) -> Result<void> {
      const std::string norm = view.attributes->text("norm", "MAX");
      if (norm != "MAX" && norm != "L1" && norm != "L2")
        return refuse(view, Code::bad_attribute, "unknown norm").expected("MAX, L1 or L2").found(norm);
      TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32 or i64"));
      TRY(require_rank(view, 0, 1, 2));
      Type type = view.type(0);
      type.dtype = DType::f32;
      set_output(view, 0, std::move(type));
      return {};
    },
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[2,3]; norm=MAX", "f64[2,3]; norm=L1", "i64[2,3] in -9..9; norm=L2", "f32[4]; norm=L2",
                 "f32[2,2] = [0, 0, -1, -2]; norm=MAX", "i32[2,2] = [0, 0, -1, -2]; norm=L1"}},
};

}  // namespace tenon::ops::op_normalizer
