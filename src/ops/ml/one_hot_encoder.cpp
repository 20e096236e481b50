// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_one_hot_encoder {

namespace {

ir::Strings words(const NodeView& view) {
  const ir::Attribute* a = view.attributes->find("cats_strings");
  return a ? std::get<ir::Strings>(*a) : ir::Strings();
}

Result<void> infer(NodeView& view) {
  const Ints numbers = view.attributes->ints("cats_int64s");
  const bool is_text = dtype_of(view, 0) == DType::string;
  if (!is_text) TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32, i64 or string"));
  const size_t count = is_text ? words(view).size() : numbers.size();
  if (dtype_of(view, 0) != DType::none && count == 0)
    return refuse(view, Code::bad_attribute, "no categories of the operand's kind are given")
        .expected(is_text ? "cats_strings" : "cats_int64s");
  Type type(DType::f32);
  if (view.type(0).has_rank() && count > 0) {
    type.shape = view.type(0).shape;
    type.shape->push_back(Dim(static_cast<int64_t>(count)));
  }
  set_output(view, 0, std::move(type));
  return {};
}

/// The number of the category of element `i`; -1: none. Floats are truncated to integers.
int64_t category(const Tensor& x, int64_t i, const Ints& numbers, const ir::Strings& texts) {
  const auto place = [](const auto& list, const auto& value) {
    const auto at = std::ranges::find(list, value);
    return at == list.end() ? -1 : at - list.begin();
  };
  if (x.dtype() == DType::string) return place(texts, x.strings()[static_cast<size_t>(i)]);
  if (!is_float(x.dtype())) return place(numbers, x.integer(i));
  const double value = std::trunc(x.number(i));
  return std::fabs(value) < 0x1p62 ? place(numbers, static_cast<int64_t>(value)) : -1;
}

Result<void> evaluate(Call& call) {
  const Tensor& x = *call.in[0];
  const Ints numbers = call.view.attributes->ints("cats_int64s");
  const ir::Strings texts = words(call.view);
  const auto count = static_cast<int64_t>(x.dtype() == DType::string ? texts.size() : numbers.size());
  Sizes shape = x.shape();
  shape.push_back(count);
  Tensor& y = *TRY(call.make(0, shape));
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t at = category(x, i, numbers, texts);
    if (at >= 0) y.set_number(i * count + at, 1);
    else if (call.view.attributes->integer("zeros", 1) == 0)
      return refuse(call.view, Code::bad_input, "an element is no known category, and zeros=0 forbids that")
          .found("element " + std::to_string(i));
  }
  return {};
}

}  // namespace

OP(one_hot_encoder) {
    .name = "OneHotEncoder",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"cats_int64s: ints", "cats_strings: strings", "zeros: int = 1"}},
    .infer = infer,
    .reference = evaluate,
    .first_opset = 1,
    .samples = {{"f32[2,3] in -1..4; cats_int64s=[0,1,3]", "i64[4] = [3, 1, 0, 2]; cats_int64s=[0,1,3]",
                 "i32[2,2] = [1, 0, 0, 1]; cats_int64s=[1,0], zeros=0", "f64[3] = [0.5, 1.9, -0.5]; cats_int64s=[0,1]"}},
};

}  // namespace tenon::ops::op_one_hot_encoder
