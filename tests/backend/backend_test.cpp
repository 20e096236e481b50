// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/places.h"
#include "backend/work.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::backend {
namespace {

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

TEST(Work, OfAProductIsItsMultiplyAddsAndItsBytes) {
  const auto graph = graph_of("graph main(x: f32[n,8], w: f32[8,16]) { y = MatMul(x, w) return y }");
  const Work work = work_of(*graph, graph->first());
  EXPECT_EQ(work.steps, 64 * 16 * 8);  // n counts as 64
  EXPECT_EQ(work.bytes, 4 * (64 * 8 + 8 * 16 + 64 * 16));
}

TEST(Work, OfAnOpWithoutLoopsIsTheElementsThatItGives) {
  const auto graph = graph_of("graph main(x: f32[10,8]) { const k: i64[1] = [3] v, i = TopK(x, k) return v, i }");
  EXPECT_EQ(work_of(*graph, graph->first()).steps, 2 * 30);
}

bool places(std::string_view text) {
  const auto graph = graph_of(text);
  return has_places(graph->view(graph->last()));
}

TEST(Places, ExistWhereOperandsDetermineSizes) {
  EXPECT_TRUE(places("graph main(x: f32[n,m]) { y = Transpose(x) return y }"));
  EXPECT_TRUE(places("graph main(x: f32[n,m]) { s = Shape(x) y = ConstantOfShape(s) return y }"));
  EXPECT_FALSE(places("graph main(x: f32[n,m]) { y = NonZero(x) return y }"));
  EXPECT_FALSE(places("graph main(x: f32[n,m], s: i64[2]) { y = Reshape(x, s) return y }"));
  EXPECT_FALSE(places("graph main(x: f32[n]) { y = SequenceConstruct(x) return y }"));
  EXPECT_FALSE(places("graph main(x: string[n]) { y = Identity(x) return y }"));
}

}  // namespace
}  // namespace tenon::backend
