// SPDX-License-Identifier: Apache-2.0
// One graph over several backends: any share of it on one that computes (by reference) or does not (null), the rest in kernels.
#include <gtest/gtest.h>

#include "compiler/load.h"
#include "compiler/save.h"
#include "every_other.h"
#include "helpers.h"
#include "ops/reference/evaluate.h"

namespace tenon::backends {
std::unique_ptr<const backend::Backend> backend_null(const runtime::Libraries&);
std::shared_ptr<const runtime::Device> device_null(const runtime::Libraries&);
}  // namespace tenon::backends

namespace tenon::compiler {
namespace {

const backend::Backend& null() {
  static const auto backend = backends::backend_null({});
  return *backend;
}

/// Reshapes, sizes, a product with its bias, a result that is used twice, and sizes that data tells.
constexpr std::string_view kText = R"(graph main(x: f32[n,4]) {
  const w: f32[4,3] = [1, 2, -3, 4, -5, 6, 7, 8, -9, 1, 2, 3]
  const b: f32[3] = [1, -1, 2]
  const flat: i64[1] = [-1]
  h = MatMul(x, w)
  a = Add(h, b)
  r = Relu(a)
  s = Softmax(a)
  m = Mul(r, s)
  f = Reshape(m, flat)
  z = NonZero(r)
  e = Exp(f)
  return e, z, s
})";
constexpr size_t kNodes = 8;

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  return std::move(*graph);
}

/// Each op of the text stands there once.
size_t place_of(const ir::Graph& graph, ir::NodeId node) {
  static constexpr std::string_view kOps[kNodes] = {"MatMul", "Add", "Relu", "Softmax", "Mul", "Reshape", "NonZero", "Exp"};
  return static_cast<size_t>(std::ranges::find(kOps, graph.node(node).op->name) - kOps);
}

class EveryShare : public ::testing::Test {
 protected:
  Result<std::vector<Tensor>> results(const backend::Backend& base, size_t mask, const runtime::Devices& devices) {
    const tests::Some some(std::string(base.name()), base,
                           [&](const ir::Graph& graph, ir::NodeId n) { return (mask >> place_of(graph, n) & 1) != 0; });
    CompileOptions options;
    options.opt = 0;
    options.verify = true;
    options.backends = {&some, all_[0], all_[1]};
    auto compiled = TRY(compile(graph_of(kText), options));
    for (const runtime::Blob& blob : compiled.built.programs[0].blobs) segments_ += blob.device == base.name();
    auto context = TRY(runtime::Context::create(TRY(load_compiled(std::move(compiled), devices))));
    return testing::copied_results(*context, inputs_);
  }

  const backend::Backends all_ = *backends_named();
  const std::vector<Tensor> inputs_ = {Tensor::of_f32({2, 4}, std::vector<float>{1, -2, 3, 0.5f, 2, 2, -1, 1})};
  size_t segments_ = 0;
};

TEST_F(EveryShare, IsComputedAsTheWholeIs) {
  const auto want = ops::evaluate(*graph_of(kText), inputs_);
  ASSERT_TRUE(want) << want.error().text();
  const tests::Some renamed("elsewhere", *all_[1], [](const ir::Graph&, ir::NodeId) { return true; });
  for (size_t mask = 0; mask < size_t{1} << kNodes; mask += 3) {
    const auto got = results(renamed, mask, {std::make_shared<tests::Renamed>("elsewhere")});
    ASSERT_TRUE(got) << mask << ": " << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << mask;
  }
  EXPECT_GT(segments_, size_t{80});
}

TEST_F(EveryShare, IsTakenByABackendThatComputesNothing) {
  for (size_t mask = 0; mask < size_t{1} << kNodes; mask += 7) {
    const auto got = results(null(), mask, {backends::device_null({})});
    ASSERT_TRUE(got) << mask << ": " << got.error().text();
    EXPECT_EQ((*got)[0].shape(), (Sizes{6})) << mask;
    EXPECT_EQ((*got)[2].shape(), (Sizes{2, 3})) << mask;
    if (mask >> 3 & 1) EXPECT_EQ((*got)[2].number(0), 0) << mask;
  }
  EXPECT_GT(segments_, size_t{35});
}

TEST(Segments, HoldAsManyNodesAsCanRunAtOnce) {
  CompileOptions options;
  const auto compiled = compile(graph_of(R"(graph main(x: f32[n], y: f32[n]) {
    i = NonZero(x) u = Unique(y) t = Transpose(i, perm=[1, 0]) a = Exp(x) b = NonZero(a) return t, u, b })"),
                                options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(compiled->built.programs[0].blobs.size(), 1u);  // all of them behind Exp
}

TEST(Segments, ThatAreEqualAreCompiledOnce) {
  const tests::Some unique("elsewhere", *(*backends_named()).back(),
                           [](const ir::Graph& graph, ir::NodeId n) { return graph.node(n).op->name == "CumSum"; });
  const backend::Backends all = *backends_named();
  CompileOptions options;
  options.opt = 0;
  options.backends = {&unique, all[0], all[1]};
  constexpr std::string_view kText = R"(graph main(x: f32[n,4]) {
    const rows: i64[] = 0 const columns: i64[] = 1
    a = CumSum(x, rows) @"first" b = Neg(a) c = CumSum(b, rows) @"second" d = Neg(c) e = CumSum(d, columns) f = Neg(e) g = CumSum(f, rows)
    return g })";
  const std::vector<Tensor> inputs = {Tensor::of_f32({2, 4}, std::vector<float>{1, -2, 3, 0.5f, 2, 2, -1, 1})};
  auto compiled = compile(graph_of(kText), options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_EQ(std::ranges::count(compiled->partition.segments, "elsewhere", &ir::Segment::backend), 4);
  EXPECT_EQ(compiled->built.programs[0].blobs.size(), 2u);
  auto context = *runtime::Context::create(*load_compiled(*std::move(compiled), {std::make_shared<tests::Renamed>("elsewhere")}));
  const auto got = testing::copied_results(*context, inputs);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(testing::difference((*ops::evaluate(*graph_of(kText), inputs))[0], (*got)[0]), "");
}

TEST(Segments, SayWhichNodeFails) {
  const auto engine = load_compiled(*compile(graph_of(R"(graph main(x: f32[n], k: i64[1]) {
    i = NonZero(x) @"find" v, j = TopK(x, k) @"best of all" return i, v })"),
                                             {}));
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = *runtime::Context::create(*engine);
  const std::vector<Tensor> inputs = {Tensor::of_f32({2}, std::vector<float>{1, 2}), Tensor::of_i64({1}, std::vector<int64_t>{9})};
  const auto got = context->run(inputs);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error()->place.find("best of all"), std::string::npos) << got.error().text();
}

TEST(Segments, KeepQuantizedProductsInTheFormOfOtherRuntimes) {
  constexpr std::string_view text = R"(graph main(x: u8[n,2]) {
    const s: f32[] = [0.1]
    const z: u8[] = [7]
    const w: i8[2,2] = [1, -2, 3, 4]
    a = DequantizeLinear(x, s, z)
    b = DequantizeLinear(w, s)
    y = MatMul(a, b)
    return y
  })";
  const auto has = [&](const backend::Backends& backends, std::string_view op) {
    CompileOptions options;
    options.backends = backends;
    const auto partitioned = partition_graph(graph_of(text), options);
    if (!partitioned) throw std::runtime_error(partitioned.error().text());
    bool found = false;
    for (const ir::NodeId n : partitioned->graph->nodes()) found = found || partitioned->graph->node(n).is(op);
    return found;
  };
  const backend::Backends all = *backends_named();
  EXPECT_TRUE(has({all[0], all[1]}, "MatMulInteger"));
  EXPECT_TRUE(has({&null(), all[0], all[1]}, "MatMul"));
  EXPECT_FALSE(has({&null(), all[0], all[1]}, "MatMulInteger"));
}

TEST(Segments, OfAMissingDeviceAreRefusedAtLoad) {
  const backend::Backends all = *backends_named();
  CompileOptions options;
  options.backends = {&null(), all[0], all[1]};
  const auto engine = load_compiled(*compile(graph_of("graph main(x: f32[n]) { y = Exp(x) return y }"), options));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code(), Code::not_supported);
  EXPECT_NE(engine.error().text().find("'null'"), std::string::npos) << engine.error().text();
}

/// Supports everything, and compiles no segment in which there is an Exp.
class Failing final : public backend::Backend {
 public:
  explicit Failing(const backend::Backend& base) : base_(base) {}
  std::string_view name() const override { return "failing"; }
  std::string_view docs() const override { return "of a test"; }
  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override { return base_.supports(graph, node); }
  double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options& options) const override {
    for (ir::NodeId n : request.graph.nodes())
      if (request.graph.node(n).is("Exp")) return fail(Code::not_supported, "", "no room for an Exp");
    return base_.compile(request, options);
  }

 private:
  const backend::Backend& base_;
};

constexpr std::string_view kTwoRegions = "graph main(x: f32[n]) { a = Neg(x) b = NonZero(a) c = Exp(x) d = Sqrt(c) return b, d }";

TEST(FailedSegment, ASegmentThatABackendFailsToCompileIsRunByOthers) {
  const backend::Backends all = *backends_named();
  const Failing failing(*all[1]);
  for (std::string_view text : {kText, kTwoRegions}) {
    CompileOptions options;
    options.backends = {&failing, all[0], all[1]};
    options.opt = 0;
    auto compiled = compile(graph_of(text), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    ASSERT_EQ(compiled->failed_segments.size(), 1u);
    EXPECT_EQ(compiled->failed_segments[0].backend, "failing");
    EXPECT_NE(compiled->failed_segments[0].error.find("no room for an Exp"), std::string::npos);
    for (const partition::NodePlacement& n : compiled->partition.nodes)
      if (n.backend > 0) EXPECT_EQ(n.reasons[0].code, "handed_back") << n.name;
    const auto graph = graph_of(text);
    const Tensor x = text == kText ? Tensor::of_f32({2, 4}, std::vector<float>{1, -2, 3, 0.5f, 2, 2, -1, 1})
                                   : Tensor::of_f32({3}, std::vector<float>{1, 0, -3});
    const auto want = ops::evaluate(*graph, {&x, 1});
    const auto engine = load_compiled(*std::move(compiled), {std::make_shared<tests::Renamed>("failing")});
    ASSERT_TRUE(engine) << engine.error().text();
    const auto context = *runtime::Context::create(*engine);
    const auto got = testing::copied_results(*context, {&x, 1});
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "");
  }
}

TEST(FailedSegment, APinnedNodeIsAnError) {
  const backend::Backends all = *backends_named();
  const Failing failing(*all[1]);
  CompileOptions options;
  options.backends = {&failing, all[0], all[1]};
  options.opt = 0;
  options.constraints.pins = {{"Exp_2", "failing"}};
  const auto compiled = compile(graph_of(kTwoRegions), options);
  ASSERT_FALSE(compiled);
  EXPECT_NE(compiled.error().text().find("pinned"), std::string::npos) << compiled.error().text();
  EXPECT_NE(compiled.error().text().find("no room for an Exp"), std::string::npos) << compiled.error().text();
}

TEST(BackendNames, AreListedOnceEach) {
  const std::vector<std::string> unknown = {"cuda"}, twice = {"cpu", "cpu"}, first = {"reference"};
  EXPECT_EQ(backends_named(unknown).error().code(), Code::bad_usage);
  EXPECT_EQ(backends_named(twice).error().code(), Code::bad_usage);
  const auto named = backends_named(first);
  ASSERT_TRUE(named);
  ASSERT_EQ(named->size(), 2u);
  EXPECT_EQ((*named)[0]->name(), "reference");
  EXPECT_EQ((*named)[1]->name(), "cpu");
}

}  // namespace
}  // namespace tenon::compiler
