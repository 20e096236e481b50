// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/infer/elementwise.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_binarizer {

OP(binarizer) {
    .name = "Binarizer",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"threshold: float = 0.0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32 or i64"));
      return infer_same_type(view);
    },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          const DType dtype = view.type(0).dtype, wide = is_float(dtype) ? dtype : DType::f64;
          const ir::ValueId over =
              build("Greater", {cast_to(build, in[0], wide), build.scalar(wide, view.attributes->number("threshold", 0))});
          return std::vector{cast_to(build, over, dtype)};
        },
    .first_opset = 1,
    .samples = {{"f32[2,3]", "f64[4]; threshold=0.5", "i64[5] in -3..3; threshold=0.5", "i32[2,2] in -3..3"}},
};

}  // namespace tenon::ops::op_binarizer
