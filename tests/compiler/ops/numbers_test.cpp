// SPDX-License-Identifier: Apache-2.0
// Integers at the edge of what a size can be (and of their dtype) go through every op that makes or passes shape data unchanged: the
// reference, which sees numbers alone, and the compiled graph agree to the bit at every level, also where the graph knows the number.
#include <gtest/gtest.h>

#include "../../ops/edge_numbers.h"
#include "helpers.h"
#include "ops/reference/evaluate.h"
#include "passes/passes.h"
#include "passes/rules_of.h"

namespace tenon::compiler::testing {
namespace {

using tenon::testing::kOneOp;
using tenon::testing::number;
using tenon::testing::text_of;

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
