// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/evaluation_work.h"

#include "helpers.h"

namespace tenon::tests {
namespace {

using rewrite::EvaluationWork;

/// The estimated work of the first output, with every symbol 10 and one element in the result.
int64_t work_of(std::string_view text) {
  const auto graph = graph_of(text);
  if (graph->outputs().empty()) return -1;
  decltype(rewrite::Instance::sizes) sizes;
  for (Dim symbol : graph->symbols().all()) sizes[symbol.node()] = 10;
  return EvaluationWork(*graph).of(graph->outputs()[0], 1, sizes);
}

TEST(EvaluationWork, CountsThePointsOfLoopsWithReducedAxes) {
  EXPECT_EQ(work_of("graph main(x: f32[2,n]) { y = Relu(x) return y }"), 20);
  EXPECT_EQ(work_of("graph main(x: f32[2,n], w: f32[n,5]) { y = MatMul(x, w) return y }"), 100);
  EXPECT_EQ(work_of("graph main(x: f32[1,3,n,n], w: f32[4,3,3,3]) { y = Conv(x, w, pads=[1,1,1,1]) return y }"), 10 * 10 * 4 * 3 * 9);
}

TEST(EvaluationWork, CountsADefinitionWhereThereIsNoLoop) {
  const int64_t scores = 2 * 4 * 10 * 10;  // [batch, heads, queries, keys], each a sum over 8
  EXPECT_GT(work_of("graph main(q: f32[2,4,n,8], k: f32[2,4,n,8], v: f32[2,4,n,8]) { y = Attention(q, k, v) return y }"), 2 * 8 * scores);
}

TEST(EvaluationWork, CountsElementsOfOtherOps) {
  EXPECT_EQ(work_of("graph main(x: f32[2,n]) { y = NonZero(x) return y }"), 1);
  // The definition's ranges end where data say: loops over sizes that only the definition has names for.
  EXPECT_GE(work_of("graph main(past: i64[], total: i64[]) { y = tenon::CausalMask(past, total) return y }"), 1);
}

}  // namespace
}  // namespace tenon::tests
