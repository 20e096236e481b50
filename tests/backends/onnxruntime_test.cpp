// SPDX-License-Identifier: Apache-2.0
// What is special about segments that run in ONNX Runtime.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

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

constexpr std::string_view kText = R"(graph main(x: f32[n,4], c: bool[]) {
  const w: f32[4,300] = splat(0.5)
  h = MatMul(x, w)
  r = Relu(h)
  z = NonZero(r)
  b = If(c) then_branch={ graph(r2: f32[n,300]) { y = Neg(r2) return y } } captures=[r] else_branch={ graph(h2: f32[n,300]) { y = Exp(h2) return y } } captures=[h]
  return b, z
})";

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
  ~Onnxruntime() override { std::filesystem::remove(file_); }

  Result<std::shared_ptr<runtime::Engine>> engine_of(std::string_view text) {
    auto compiled = TRY(compiler::compile(graph_of(text), options_));
    EXPECT_GT(std::ranges::count(compiled.built.program.blobs, "onnxruntime", &runtime::Blob::device), 0);
    return compiler::load_compiled(std::move(compiled));
  }
  Result<std::shared_ptr<runtime::Engine>> by_file(const compiler::Compiled& compiled, const runtime::Libraries& libraries) {
    TRY(compiler::save(compiled, options_, file_));
    return compiler::load(file_, {.libraries = libraries});
  }
  static std::vector<Tensor> inputs_of(int64_t rows, bool condition) {
    Tensor c = *Tensor::make(DType::boolean, {});
    c.set_integer(0, condition);
    std::vector<float> x(static_cast<size_t>(rows) * 4);
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k % 7) - 3;
    return {Tensor::of_f32({rows, 4}, x), c};
  }
  static void expect_results(runtime::Context& context) {
    for (int64_t rows : {3, 1, 0, 8})
      for (bool condition : {true, false}) {
        const auto inputs = inputs_of(rows, condition);
        const auto want = ops::evaluate(*graph_of(kText), inputs);
        const auto got = copied_results(context, inputs);
        ASSERT_TRUE(got) << got.error().text();
        for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(difference((*want)[k], (*got)[k]), "") << rows << " rows, result " << k;
      }
  }

  compiler::CompileOptions options_;
  const std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("onnxruntime_" + std::to_string(getpid()) + ".tenon");
};

TEST_F(Onnxruntime, RunsBranchesDynamicSizesAndWeights) {
  for (int opt : {0, 3}) {
    options_.opt = opt;
    const auto engine = engine_of(kText);
    ASSERT_TRUE(engine) << engine.error().text();
    expect_results(**runtime::Context::create(*engine));
  }
}

TEST_F(Onnxruntime, ComesBackFromAFile) {
  for (bool portable : {false, true}) {
    options_.portable = portable;
    const auto compiled = compiler::compile(graph_of(kText), options_);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto engine = by_file(*compiled, peer_libraries());
    ASSERT_TRUE(engine) << engine.error().text();
    EXPECT_EQ((*engine)->devices().size(), 1u);
    expect_results(**runtime::Context::create(*engine));
  }
}

TEST_F(Onnxruntime, RunsInSeveralContextsAtOnce) {
  const auto engine = engine_of(kText);
  ASSERT_TRUE(engine) << engine.error().text();
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { expect_results(**runtime::Context::create(*engine)); });
}

TEST_F(Onnxruntime, IsMissedWhenTheEngineIsLoaded) {
  const auto compiled = compiler::compile(graph_of(kText), options_);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto missing = by_file(*compiled, {.files = {{"onnxruntime", "/nowhere/libonnxruntime.so"}}, .packages = {}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::file_missing) << missing.error().text();
  EXPECT_EQ(missing.error()->place, "backend 'onnxruntime'");
  const auto foreign = by_file(*compiled, {.files = {{"onnxruntime", "libm.so.6"}}, .packages = {}});
  ASSERT_FALSE(foreign);
  const auto math = runtime::open_library({.backend = "m", .package = "m", .folder = "m", .file = "m", .soname = "libm.so.6"},
                                          {.files = {}, .packages = {"/nowhere"}});
  const auto other = by_file(*compiled, {.files = {{"onnxruntime", math->file}}, .packages = {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::bad_file) << other.error().text();
  EXPECT_NE(other.error()->what.find("no ONNX Runtime"), std::string::npos) << other.error().text();
}

TEST_F(Onnxruntime, SaysInItsOwnWordsWhatItRefuses) {
  const auto graph = graph_of("graph main(x: bf16[n]) { y = Neg(x) return y }");
  const auto taken = options_.backends[0]->supports(*graph, graph->first());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::not_supported);
  EXPECT_NE(taken.error()->what.find("Neg-"), std::string::npos) << taken.error().text();
  EXPECT_NE(taken.error()->what.find("bf16[n]"), std::string::npos) << taken.error().text();
}

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

TEST_F(Onnxruntime, StopsWhenAsked) {
  const auto engine = engine_of(R"(graph main(x: f32[1500,1500], n: i64[]) {
    y = Loop(n, _, x) body={ graph(i: i64[], c: bool[], a: f32[1500,1500]) { b = MatMul(a, a) d = Identity(c) return d, b } }
    return y })");
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = *runtime::Context::create(*engine);
  const std::vector<Tensor> inputs = {*Tensor::make(DType::f32, {1500, 1500}), *Tensor::make(DType::i64, {})};
  Tensor(inputs[1]).set_integer(0, 1000000);
  runtime::RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  const auto got = context->run(inputs, options);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::deadline) << got.error().text();
}

}  // namespace
}  // namespace tenon::tests
