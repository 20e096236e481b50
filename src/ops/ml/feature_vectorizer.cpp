// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_feature_vectorizer {

namespace {

/// Concatenates features: those after the declared number are dropped, missing ones are 0.
ir::ValueId fitted(ir::Builder& build, ir::ValueId x, int64_t wanted) {
  const ir::ValueId wide = build("Pad", {x, build.ints({0, wanted}), {}, build.ints({1})});
  return build("Slice", {wide, build.ints({0}), build.ints({wanted}), build.ints({1})});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const Ints wanted = view.attributes->ints("inputdimensions");
  std::vector<ir::ValueId> parts;
  for (size_t k = 0; k < in.size(); ++k) {
    if (!view.type(k).has_rank()) return {};
    ir::ValueId x = cast_to(build, in[k], DType::f32);
    if (view.rank(k) == 1) x = build("Unsqueeze", {x, build.ints({0})});
    const Dim columns = view.type(k).dim(-1);
    if (!wanted.empty() && columns != Dim(wanted[k])) x = fitted(build, x, wanted[k]);
    parts.push_back(x);
  }
  return {build("Concat", std::move(parts), {{"axis", int64_t{1}}})};
}

}  // namespace

OP(feature_vectorizer) {
    .name = "FeatureVectorizer",
    .domain = "ai.onnx.ml",
    .inputs = {{"X*"}},
    .outputs = {{"Y"}},
    .attributes = {{"inputdimensions: ints"}},
    .infer = [](NodeView& view) -> Result<void> {
      const Ints wanted = view.attributes->ints("inputdimensions");
      if (view.explicit_inputs == 0 || (!wanted.empty() && wanted.size() != view.explicit_inputs))
        return refuse(view, Code::bad_attribute, "inputdimensions has a wrong length").expected(std::to_string(view.explicit_inputs));
      for (size_t k = 0; k < view.explicit_inputs; ++k) {
        TRY(require_dtype(view, k, is_feature_dtype, "f32, f64, i32 or i64"));
        TRY(require_rank(view, k, 1, 2));
        if (!wanted.empty() && wanted[k] < 0) return refuse(view, Code::bad_attribute, "a number of features is negative");
      }
      TRY(infer_by_definition(view));
      if (view.outputs[0].dtype != DType::f32) set_output(view, 0, Type(DType::f32));
      return {};
    },
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[2,3], f32[2,1]; inputdimensions=[3,1]", "f32[2,3], f32[2,2]; inputdimensions=[2,4]",
                 "f32[3], f32[1,2]; inputdimensions=[3,2]", "i64[2,3]; inputdimensions=[3]"}},
};

}  // namespace tenon::ops::op_feature_vectorizer
