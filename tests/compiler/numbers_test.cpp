// SPDX-License-Identifier: Apache-2.0
// Integers at the edge of what a size can be (and of their dtype) go through every op that makes or passes shape data unchanged: the
// reference, which sees numbers alone, and the compiled graph agree to the bit at every level, also where the graph knows the number.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/evaluate.h"
#include "passes/passes.h"
#include "passes/rules_of.h"

namespace tenon::compiler::testing {
namespace {

/// C: a constant of two edge numbers, x: the same numbers at the run, S: a constant scalar. Results are integers or bools.
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

/// Each result in its dtype to the bit.
void expect_equal(const std::vector<Tensor>& want, const std::vector<Tensor>& got, const std::string& where) {
  ASSERT_EQ(want.size(), got.size()) << where;
  for (size_t k = 0; k < want.size(); ++k) EXPECT_EQ(difference(want[k], got[k]), "") << where;
}

Result<std::vector<Tensor>> after(Result<bool> (*pass)(ir::Graph&, passes::Context&), const std::string& text, const Tensor& input) {
  auto graph = TRY(ir::parse(text, ops::table()));
  TRY(ir::infer_all(*graph));
  passes::Options options;
  passes::Report report;
  passes::Context context{options, report, options.rewriting.stop_after, *passes::rules_of(options, graph->ops())};
  TRY(pass(*graph, context));
  return ops::evaluate(*graph, std::span(&input, 1));
}

void expect_unchanged(const std::string& text) {
  const Tensor input = Tensor::scalar(DType::f32, 1).reshaped({1});
  auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  auto want = ops::evaluate(**graph, std::span(&input, 1));
  ASSERT_TRUE(want) << text << want.error().text();
  for (int opt : {0, 1, 3}) {
    auto got = compiled_results(std::move(*ir::parse(text, ops::table())), std::span(&input, 1), opt);
    ASSERT_TRUE(got) << text << got.error().text();
    expect_equal(*want, *got, text + "opt " + std::to_string(opt));
  }
  for (auto pass : {passes::shape_arithmetic, passes::fold_constants}) {
    auto got = after(pass, text, input);
    ASSERT_TRUE(got) << text << got.error().text();
    expect_equal(*want, *got, text + "after a pass");
  }
}

TEST(Numbers, ThatNoSizeCanBeGoThroughShapeDataUnchanged) {
  constexpr int64_t k61 = int64_t{1} << 61, k62 = int64_t{1} << 62;
  for (int64_t edge : {INT64_MAX, INT64_MIN, k61, -k61, k61 + 1, k62, -k62, k62 - 1, 1 - k62, k62 + 1, INT64_MAX - 1, INT64_MIN + 1})
    for (const std::string& ops : kOneOp) expect_unchanged(text_of("i64", edge, ops));
}

TEST(Numbers, AtTheEdgeOfTheirDtypeWrapAsTheReferenceDoes) {
  for (int64_t edge : {int64_t{INT32_MAX}, int64_t{INT32_MIN}, int64_t{65536}})
    for (const std::string& ops : kOneOp) expect_unchanged(text_of("i32", edge, ops));
}

}  // namespace
}  // namespace tenon::compiler::testing
