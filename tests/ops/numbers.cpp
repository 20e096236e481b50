// SPDX-License-Identifier: Apache-2.0
// What inference says of the elements of a value is what the value is, also for integers at the edge of what a size can be and of their
// dtype: through every op that makes or passes shape data.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon::ops {
namespace {

/// c holds an edge number, as s does; s1 is one more.
const std::vector<std::string> kOneOp = {
    "y = Identity(c)",
    "y = Neg(c)",
    "y = Add(c, c)",
    "y = Add(c, one)",
    "y = Sub(c, one)",
    "y = Sub(one, c)",
    "y = Mul(c, c)",
    "y = Mul(c, minus)",
    "y = Div(c, minus)",
    "y = Div(c, one)",
    "y = Div(c, c)",
    "y = Mod(c, three)",
    "y = Mod(three, c)",
    "y = Min(c, one)",
    "y = Max(c, one)",
    "y = Equal(c, s)",
    "y = Less(c, s)",
    "y = LessOrEqual(c, s)",
    "y = Greater(c, s)",
    "y = GreaterOrEqual(c, s)",
    "y = Concat(c, c, axis=0)",
    "y = Gather(c, index, axis=0)",
    "y = Slice(c, zero, two)",
    "y, z = Split(c, axis=0, num_outputs=2)",
    "y = Unsqueeze(c, zero)",
    "u = Unsqueeze(c, zero)\n y = Squeeze(u, zero)",
    "u = Unsqueeze(c, zero)\n y = Transpose(u, perm=[1,0])",
    "y = Reshape(c, rows)",
    "y = Expand(c, rows)",
    "y = Clip(c, s, s)",
    "y = Clip(c, s, _)",
    "y = Clip(c, _, s)",
    "y = Where(mask, c, one)",
    "y = Cast(c, to=7)",
    "y = Cast(c, to=6)",
    "y = Cast(c, to=9)",
    "f = Cast(c, to=11)\n y = Cast(f, to=9)",
    "y = Range(s, s, one0)",
    "y = Range(s, s1, one0)",
    "a = Add(c, one)\n b = Sub(a, c)\n y = Mul(b, c)",
};

std::string number(int64_t v) { return std::to_string(v); }

/// The graph over a dtype and an edge number, the ops reading `known` (constants) or what came in at the run.
std::string text_of(const std::string& dtype, int64_t edge, const std::string& ops) {
  const std::string results = ops.find("z =") == ops.npos && ops.find("y, z") != ops.npos ? "y, z" : "y";
  const int64_t most = dtype == "i32" ? INT32_MAX : INT64_MAX, next = edge == most ? edge : edge + 1;
  return "graph main(x: f32[n]) {\n const c: " + dtype + "[2] = [" + number(edge) + ", 5]\n const s: " + dtype + "[] = " + number(edge) +
         "\n const s1: " + dtype + "[] = " + number(next) + "\n const one: " + dtype + "[1] = [1]\n const one0: " + dtype +
         "[] = 1\n const minus: " + dtype + "[1] = [-1]\n const three: " + dtype +
         "[1] = [3]\n const zero: i64[1] = [0]\n const two: i64[1] = [2]\n const index: i64[3] = [0, 1, 0]\n"
         " const rows: i64[2] = [1, 2]\n const mask: bool[2] = [1, 0]\n " +
         ops + "\n return " + results + "\n}\n";
}

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

TEST(ShapeData, OfNumbersThatNoSizeCanBeIsTrueOrNotKnown) {
  constexpr int64_t k61 = int64_t{1} << 61, k62 = int64_t{1} << 62;
  for (int64_t edge : {INT64_MAX, INT64_MIN, k61, -k61, k61 + 1, k62, -k62, k62 - 1, 1 - k62, k62 + 1, INT64_MAX - 1, INT64_MIN + 1})
    for (const std::string& ops : kOneOp) expect_true_data(text_of("i64", edge, ops));
}

TEST(ShapeData, AtTheEdgeOfTheirDtypeIsTrueOrNotKnown) {
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
