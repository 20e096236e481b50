// SPDX-License-Identifier: Apache-2.0
// Segments in each library of others that is here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include <thread>

#include "../compiler/every_other.h"
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

class Libraries : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    options_.registry = peers();
    options_.backends = with_peer(GetParam());
    if (options_.backends.empty()) GTEST_SKIP() << "needs the library of " << GetParam();
  }
  ~Libraries() override { std::filesystem::remove(file_); }

  Result<std::shared_ptr<runtime::Engine>> engine_of(std::string_view text) {
    auto compiled = TRY(compiler::compile(graph_of(text), options_));
    EXPECT_GT(std::ranges::count(compiled.built.programs[0].blobs, GetParam(), &runtime::Blob::device), 0);
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
  const std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("libraries_" + std::to_string(getpid()) + ".tenon");
};

TEST_P(Libraries, RunsBranchesDynamicSizesAndWeights) {
  for (int opt : {0, 3}) {
    options_.opt = opt;
    const auto engine = engine_of(kText);
    ASSERT_TRUE(engine) << engine.error().text();
    expect_results(**runtime::Context::create(*engine));
  }
}

TEST_P(Libraries, DataDependentSizesReachLaterSegments) {
  constexpr std::string_view kSizes = R"(graph main(x: f32[n,4]) {
    const s: i64[2] = [1, 2]
    z = NonZero(x) f = Cast(z, to=1) t = Tile(f, s) c = Neg(t)
    return f, c
  })";
  for (int opt : {0, 3}) {
    options_.opt = opt;
    const auto engine = engine_of(kSizes);
    ASSERT_TRUE(engine) << engine.error().text();
    const auto context = *runtime::Context::create(*engine);
    for (int64_t rows : {3, 7, 0, 2}) {
      const Tensor x = inputs_of(rows, true)[0];
      const auto want = ops::evaluate(*graph_of(kSizes), {&x, 1});
      const auto got = copied_results(*context, {&x, 1});
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(difference((*want)[k], (*got)[k]), "") << rows << " rows, result " << k;
    }
  }
}

TEST_P(Libraries, ComesBackFromAFile) {
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

TEST_P(Libraries, RunsInSeveralContextsAtOnce) {
  const auto engine = engine_of(kText);
  ASSERT_TRUE(engine) << engine.error().text();
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back([&] { expect_results(**runtime::Context::create(*engine)); });
}

TEST_P(Libraries, IsMissedWhenTheEngineIsLoaded) {
  const auto compiled = compiler::compile(graph_of(kText), options_);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto missing = by_file(*compiled, {.files = {{GetParam(), "/nowhere/libonnxruntime.so"}}, .packages = {}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::file_missing) << missing.error().text();
  EXPECT_EQ(missing.error()->place, "backend '" + GetParam() + "'");
  const auto foreign = by_file(*compiled, {.files = {{GetParam(), "libm.so.6"}}, .packages = {}});
  ASSERT_FALSE(foreign);
  const auto math = runtime::open_library({.backend = "m", .package = "m", .folder = "m", .file = "m", .soname = "libm.so.6"},
                                          {.files = {}, .packages = {"/nowhere"}});
  const auto other = by_file(*compiled, {.files = {{GetParam(), math->file}}, .packages = {}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::bad_file) << other.error().text();
  EXPECT_NE(other.error()->what.find("this library is no"), std::string::npos) << other.error().text();
}

/// Engine files come from anybody.
TEST_P(Libraries, RefusesSegmentsThatAreCutOff) {
  const auto compiled = compiler::compile(graph_of("graph main(x: f32[n,4]) { r = Sin(x) y = Exp(r) return y }"), options_);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto& blobs = compiled->built.programs[0].blobs;
  const auto blob = std::ranges::find(blobs, GetParam(), &runtime::Blob::device);
  ASSERT_NE(blob, blobs.end());
  const runtime::Devices devices = peers()->devices(ops::table());
  const auto device = std::ranges::find_if(devices, [](const auto& d) { return d->name() == GetParam(); });
  ASSERT_NE(device, devices.end());
  const std::string_view whole = blob->bytes;
  ASSERT_TRUE((*device)->make({.bytes = whole}));
  for (size_t length : {size_t{0}, size_t{1}, whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    const auto made = (*device)->make({.bytes = whole.substr(0, length)});
    ASSERT_FALSE(made) << length << " of " << whole.size();
    EXPECT_FALSE(made.error()->what.empty());
  }
  EXPECT_FALSE((*device)->make({.bytes = "Dear all, please find the segment attached."}));
}

/// A start costs once a segment, not once a node: small nodes pay together.
TEST_P(Libraries, SmallNodesPayTogether) {
  std::string text = "graph main(v0: f32[8]) { ";
  for (int k = 1; k <= 60; ++k) text += fmt::format("v{} = Abs(v{}) ", k, k - 1);
  options_.opt = 0;
  std::swap(options_.backends[1], options_.backends[2]);
  ASSERT_EQ(options_.backends[1]->name(), "reference");
  options_.constraints.listed = 2;
  options_.constraints.assign = partition::Assign::cost;
  const auto partitioned = compiler::partition_graph(graph_of(text + "return v60 }"), options_);
  ASSERT_TRUE(partitioned) << partitioned.error().text();
  ASSERT_EQ(partitioned->partition.segments.size(), 1u);
  EXPECT_EQ(partitioned->partition.segments[0].backend, GetParam());
}

TEST_P(Libraries, ErrorQuotesTheLibrary) {
  const std::string type = GetParam() == "openvino" ? "f64[n]" : "bf16[n]";
  const auto graph = graph_of("graph main(x: " + type + ") { y = Neg(x) return y }");
  const auto taken = options_.backends[0]->supports(*graph, graph->first());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::not_supported);
  EXPECT_NE(taken.error()->what.find("Neg-"), std::string::npos) << taken.error().text();
  EXPECT_NE(taken.error()->what.find(type), std::string::npos) << taken.error().text();
}

/// Released, if at all, when nothing of the library may be left.
TEST_P(Libraries, StayOpenUntilTheProcessEnds) {
  static std::vector<std::shared_ptr<runtime::Context>> held;
  const auto engine = engine_of(kText);
  ASSERT_TRUE(engine) << engine.error().text();
  held.push_back(*runtime::Context::create(*engine));
  expect_results(*held.back());
}

TEST_P(Libraries, StopTokenEndsARun) {
  std::string text = "graph main(x: f32[1500,1500]) { v0 = MatMul(x, x) ";
  for (int k = 0; k < 1000; ++k) text += fmt::format("v{} = MatMul(v{}, x) ", k + 1, k);
  const auto engine = engine_of(text + "return v1000 }");
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = *runtime::Context::create(*engine);
  const Tensor x = *Tensor::make(DType::f32, {1500, 1500});
  runtime::RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  const auto got = context->run({&x, 1}, options);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::deadline) << got.error().text();
}

INSTANTIATE_TEST_SUITE_P(Peers, Libraries, testing::Values("onnxruntime", "openvino"), [](const auto& info) { return info.param; });

TEST(LibrariesTogether, ShareOneModel) {
  compiler::CompileOptions options;
  options.registry = peers();
  const auto named = peers()->named(std::vector<std::string>{"onnxruntime", "openvino"});
  if (!named) GTEST_SKIP() << "needs both libraries";
  const Some some("onnxruntime", *(*named)[0], [](const ir::Graph&, ir::NodeId n) { return n.slot() % 2 == 0; });
  options.backends = *named;
  options.backends[0] = &some;
  options.opt = 0;
  constexpr std::string_view kChain = R"(graph main(x: f32[n,4]) {
    const w: f32[4,4] = splat(0.5)
    a = Relu(x) b = MatMul(a, w) c = Exp(b) d = Softmax(c) e = Neg(d) f = Sigmoid(e)
    return f, b
  })";
  auto compiled = compiler::compile(graph_of(kChain), options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  for (const char* name : {"onnxruntime", "openvino"})
    EXPECT_GT(std::ranges::count(compiled->built.programs[0].blobs, name, &runtime::Blob::device), 1) << name;
  const auto engine = compiler::load_compiled(std::move(*compiled));
  ASSERT_TRUE(engine) << engine.error().text();
  const auto context = *runtime::Context::create(*engine);
  for (int64_t rows : {3, 0, 5}) {
    const Tensor x = Tensor::of_f32({rows, 4}, std::vector<float>(static_cast<size_t>(rows) * 4, 0.75f));
    const auto want = ops::evaluate(*graph_of(kChain), {&x, 1});
    const auto got = copied_results(*context, {&x, 1});
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(difference((*want)[k], (*got)[k]), "") << rows << " rows, result " << k;
  }
}

}  // namespace
}  // namespace tenon::tests
