// SPDX-License-Identifier: Apache-2.0
// What is special about segments that run in ONNX Runtime.
#include <gtest/gtest.h>

#include <fstream>

#include "../compiler/helpers.h"
#include "ops/reference/evaluate.h"
#include "peers.h"

namespace tenon::tests {
namespace {

using compiler::testing::copied_results;
using compiler::testing::difference;

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

int64_t anonymous_kilobytes() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (word == "RssAnon:") {
      int64_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes;
    }
  return -1;
}

class Onnxruntime : public testing::Test {
 protected:
  void SetUp() override {
    options_.registry = peers();
    options_.backends = with_peer("onnxruntime");
    if (options_.backends.empty()) GTEST_SKIP() << "needs ONNX Runtime";
  }
  compiler::CompileOptions options_;
};

TEST_F(Onnxruntime, ReadsWeightsWhereTheyLie) {
  auto graph = graph_of("graph main(i: i64[n]) { const w: f32[262144,64] = splat(0.25) y = Gather(w, i) return y }");
  const auto engine = compiler::load_compiled(*compiler::compile(std::move(graph), options_));
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = *runtime::Context::create(*engine);
  const int64_t before = anonymous_kilobytes();
  const Tensor i = Tensor::of_i64({2}, std::vector<int64_t>{3, 262143});
  const auto got = copied_results(*context, {&i, 1});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].number(64), 0.25);
  EXPECT_LT(anonymous_kilobytes() - before, 32 << 10) << "of 64 MiB of weights";
}

TEST_F(Onnxruntime, FoldsWeightsThatItComputesWith) {
  auto graph = graph_of(R"(graph main(x: f32[n,64]) {
    const w: f32[32,64] = splat(0.25)
    t = Transpose(w) r = Exp(t) y = MatMul(x, r) return y })");
  const Tensor x = Tensor::of_f32({1, 64}, std::vector<float>(64, 1));
  const auto want = ops::evaluate(*graph, {&x, 1});
  options_.opt = 0;
  const auto engine = compiler::load_compiled(*compiler::compile(std::move(graph), options_));
  ASSERT_TRUE(engine) << engine.error().text();
  const auto got = copied_results(**runtime::Context::create(*engine), {&x, 1});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(difference((*want)[0], (*got)[0]), "");
}

}  // namespace
}  // namespace tenon::tests
