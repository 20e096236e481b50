// SPDX-License-Identifier: Apache-2.0
// Shape data that inference computes equal the elements that evaluation gives, also for integers at the limits of sizes and of their
// dtypes: for every op that computes or passes shape data.
#include <gtest/gtest.h>

#include "edge_numbers.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

using tenon::testing::kOneOp;
using tenon::testing::number;
using tenon::testing::text_of;

/// Inference may refuse a graph (a range that is too long), and the reference too.
void expect_true_data(const std::string& text) {
  auto graph = ir::parse(text, table());
  if (!graph) {
    EXPECT_NE(graph.error().code(), Code::internal) << text << graph.error().text();
    return;
  }
  EvaluateOptions options;
  options.byte_limit = 1 << 20;
  options.on_value = [&](ir::ValueId id, const Tensor& t) {
    const auto& data = (*graph)->value(id).data;
    if (!data) return;
    ASSERT_EQ(static_cast<int64_t>(data->size()), t.count()) << text;
    for (int64_t i = 0; i < t.count(); ++i) {
      const Dim d = (*data)[static_cast<size_t>(i)];
      if (d.is_number()) EXPECT_EQ(d.value(), is_float(t.dtype()) ? static_cast<int64_t>(t.number(i)) : t.integer(i)) << text;
    }
  };
  const Tensor input = *Tensor::make(DType::f32, {1});
  const auto results = evaluate(**graph, std::span(&input, 1), options);
  if (!results) EXPECT_NE(results.error().code(), Code::internal) << text << results.error().text();
}

TEST(ShapeData, OfNumbersBeyondTheRangeOfSizesIsRightOrUnknown) {
  constexpr int64_t k61 = int64_t{1} << 61, k62 = int64_t{1} << 62;
  for (int64_t edge : {INT64_MAX, INT64_MIN, k61, -k61, k61 + 1, k62, -k62, k62 - 1, 1 - k62, k62 + 1, INT64_MAX - 1, INT64_MIN + 1})
    for (const std::string& ops : kOneOp) expect_true_data(text_of("i64", edge, ops));
}

TEST(ShapeData, AtTheLimitsOfTheDtypeIsRightOrUnknown) {
  for (int64_t edge : {int64_t{INT32_MAX}, int64_t{INT32_MIN}, int64_t{65536}})
    for (const std::string& ops : kOneOp) expect_true_data(text_of("i32", edge, ops));
}

TEST(ShapeData, OfAFilledTensorIsTheFill) {
  for (int64_t fill : {INT64_MAX, INT64_MIN, int64_t{1} << 61, -(int64_t{1} << 62), int64_t{7}})
    expect_true_data("graph main(x: f32[n]) {\n const s: i64[1] = [3]\n y = ConstantOfShape(s, value=i64[1] = [" + number(fill) +
                     "])\n return y\n}\n");
}

}  // namespace
}  // namespace tenon::ops
