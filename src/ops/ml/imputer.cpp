// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_imputer {

namespace {

/// The imputed values, one for all or one for each feature, in the operand's dtype; and the value that they replace.
std::pair<std::vector<double>, double> numbers(const NodeView& view) {
  const ir::Attributes& a = *view.attributes;
  if (is_float(dtype_of(view, 0))) {
    const ir::Floats values = a.floats("imputed_value_floats");
    return {{values.begin(), values.end()}, a.number("replaced_value_float", 0)};
  }
  const Ints values = a.ints("imputed_value_int64s");
  return {{values.begin(), values.end()}, static_cast<double>(a.integer("replaced_value_int64", 0))};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const DType dtype = view.type(0).dtype;
  const auto [values, replaced] = numbers(view);
  Tensor row = *Tensor::make(dtype, {static_cast<int64_t>(values.size())});
  store_numbers(row, values);
  const ir::ValueId missing = std::isnan(replaced) ? build("IsNaN", {in[0]}) : build("Equal", {in[0], build.scalar(dtype, replaced)});
  return {build("Where", {missing, build.constant(std::move(row)), in[0]})};
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32 or i64"));
  TRY(require_rank(view, 0, 1, -1));
  const auto count = static_cast<int64_t>(numbers(view).first.size());
  if (dtype_of(view, 0) != DType::none && count == 0)
    return refuse(view, Code::bad_attribute, "no imputed values of the operand's kind are given")
        .expected(is_float(dtype_of(view, 0)) ? "imputed_value_floats" : "imputed_value_int64s");
  if (count > 1 && view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), Dim(count), "features and imputed values"));
  return infer_same_type(view);
}

}  // namespace

OP(imputer) {
    .name = "Imputer",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"imputed_value_floats: floats", "imputed_value_int64s: ints", "replaced_value_float: float = 0.0",
                    "replaced_value_int64: int = 0"}},
    .infer = infer,
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[2,3] = [0, 1, 2, 3, 0, 5]; imputed_value_floats=[7.5]",
                 "f32[2,3] = [nan, 1, 2, 3, nan, 5]; imputed_value_floats=[7.5,8.5,9.5], replaced_value_float=nan",
                 "i64[2,2] = [3, 1, 2, 3]; imputed_value_int64s=[-7,5], replaced_value_int64=3"}},
};

}  // namespace tenon::ops::op_imputer
