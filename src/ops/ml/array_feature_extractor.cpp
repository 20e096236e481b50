// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_array_feature_extractor {

/// The features of the given numbers: a Gather of the last axis; the result of one row has two axes.
OP(array_feature_extractor) {
    .name = "ArrayFeatureExtractor",
    .domain = "ai.onnx.ml",
    .inputs = {{"X", "Y"}},
    .outputs = {{"Z"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, [](DType d) { return d == DType::i64; }, "i64"));
      TRY(require_rank(view, 0, 1, -1));
      return infer_by_definition(view);
    },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          if (!view.type(0).has_rank()) return std::vector<ir::ValueId>{};
          const ir::ValueId z = build("Gather", {in[0], build("Reshape", {in[1], build.ints({-1})})}, {{"axis", int64_t{-1}}});
          return std::vector{view.rank(0) == 1 ? build("Unsqueeze", {z, build.ints({0})}) : z};
        },
    .first_opset = 1,
    .samples = {{"f32[2,4], i64[2] = [3, 0]", "f32[4], i64[1,2] = [3, 0]", "i64[2,3,4], i64[1] = [1]", "f64[2,4], i64[3] = [1, 1, 2]"}},
};

}  // namespace tenon::ops::op_array_feature_extractor
