// SPDX-License-Identifier: Apache-2.0
// Graphs of which one op falls back, run to the end: branches, loops, sequences, sizes, and engines that were saved.
#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/save.h"
#include "every_other.h"
#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "runtime/load.h"

namespace tenon::compiler {
namespace {

Tensor random(Sizes shape, uint64_t seed) { return *ops::random_tensor(DType::f32, std::move(shape), seed); }

/// Appends the number of blobs of each program.
void count_blobs(const runtime::ProgramTable& programs, std::vector<size_t>& out) {
  for (const runtime::NamedProgram& p : programs.programs)
    out.push_back(static_cast<size_t>(std::ranges::count(p.program.blobs, "elsewhere", &runtime::Blob::device)));
}

/// An accelerated segment takes and gives tensors alone.
void expect_tensors(const ir::Graph& graph, const partition::Partition& partition) {
  for (const ir::Segment& segment : partition.segments)
    if (segment.backend == "elsewhere")
      for (const auto* values : {&segment.operands, &segment.results})
        for (ir::ValueId v : *values) EXPECT_TRUE(graph.value(v).type.is_tensor()) << graph.value(v).name;
  for (const partition::NodePlacement& n : partition.nodes)
    for (size_t k = 0; k < n.bodies.size(); ++k) expect_tensors(*graph.node(n.node).bodies[k].graph, n.bodies[k]);
}

/// Backend `elsewhere` takes all that the reference does, but for the ops that fall back.
class Fallback : public ::testing::Test {
 protected:
  Result<Compiled> compiled(std::string_view text, int opt, std::vector<std::string> fallback_ops) {
    options_.opt = opt;
    options_.verify = true;
    options_.backends = {&elsewhere_, all_[0], all_[1]};
    options_.constraints.listed = 2;
    options_.constraints.fallback_ops = std::move(fallback_ops);
    return compile(TRY(ir::parse(text, ops::table())), options_);
  }

  /// Runs the graph and holds it against the reference. Returns how many segments `elsewhere` has: of the graph, then of each body.
  std::vector<size_t> check(std::string_view text, const std::vector<std::string>& fallback_ops, const std::vector<Tensor>& inputs) {
    const auto graph = ir::parse(text, ops::table());
    EXPECT_TRUE(graph) << graph.error().text();
    if (!graph) return {};
    const auto want = ops::evaluate(**graph, inputs);
    EXPECT_TRUE(want) << want.error().text();
    std::vector<size_t> counts;
    for (int opt : {3, 0}) {
      auto all = compiled(text, opt, fallback_ops);
      EXPECT_TRUE(all) << all.error().text();
      if (!all || !want) return {};
      expect_tensors(*all->graph, all->partition);
      counts.clear();
      count_blobs(all->built.programs, counts);
      const auto engine = load_compiled(*std::move(all), {std::make_shared<tests::Renamed>("elsewhere")});
      EXPECT_TRUE(engine) << engine.error().text();
      const auto got = testing::copied_results(**runtime::Context::create(*engine), inputs);
      EXPECT_TRUE(got) << got.error().text();
      for (size_t k = 0; got && k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << opt << " " << k;
    }
    return counts;
  }

  const backend::Backends all_ = *backends_named();
  /// A backend for nodes without bodies; only the host backend makes programs of bodies.
  const tests::Some elsewhere_{"elsewhere", *all_[1], [](const ir::Graph& g, ir::NodeId n) { return g.node(n).bodies.empty(); }};
  CompileOptions options_;
};

using Counts = std::vector<size_t>;
const Tensor kYes = Tensor::scalar(DType::boolean, 1), kNo = Tensor::scalar(DType::boolean, 0);
Tensor number(int64_t value) { return Tensor::of_i64({}, {&value, 1}); }

TEST_F(Fallback, TwoBranchesOnOneFlag) {
  constexpr std::string_view kText = R"(graph main(c: bool[], x: f32[n], y: f32[n]) {
    a = If(c) then_branch={ graph(p: f32[n], q: f32[n]) { s = Sub(p, q) return s } } captures=[x, y]
      else_branch={ graph(p: f32[n], q: f32[n]) { s = Add(p, q) return s } } captures=[x, y]
    b = If(c) then_branch={ graph(p: f32[n], q: f32[n]) { s = Mul(p, q) return s } } captures=[a, y]
      else_branch={ graph(p: f32[n], q: f32[n]) { s = Sub(q, p) return s } } captures=[a, y]
    return b })";
  for (const Tensor& flag : {kYes, kNo}) EXPECT_EQ(check(kText, {"Sub"}, {flag, random({5}, 1), random({5}, 2)}), (Counts{0, 0, 1, 1, 0}));
}

TEST_F(Fallback, ASizeThatFeedsAReshape) {
  EXPECT_EQ(check(R"(graph main(x: f32[n,4], w: f32[4,4]) { const one: i64[1] = [-1] s = Shape(x, end=1) t = Concat(one, s, axis=0)
              e = Exp(x) y = Reshape(e, t) z = MatMul(w, y) return z })",
                  {"Exp"}, {random({3, 4}, 3), random({4, 4}, 19)}),
            Counts{1});
}

TEST_F(Fallback, AProductInALoopAfterAConvolution) {
  const auto counts =
      check(R"(graph main(n: i64[], x: f32[1,2,6,6], w: f32[2,2,3,3], v: f32[2,2,3,3], m: f32[1,2,6,6]) {
    c = Conv(x, w) t = ConvTranspose(c, v)
    y = Loop(n, _, t) body={ graph(i: i64[], go: bool[], a: f32[1,2,6,6], b: f32[1,2,6,6]) { p = Mul(a, b) return go, p } } captures=[m]
    return y })",
            {"Conv"}, {number(3), random({1, 2, 6, 6}, 4), random({2, 2, 3, 3}, 5), random({2, 2, 3, 3}, 6), random({1, 2, 6, 6}, 7)});
  EXPECT_EQ(counts, (Counts{1, 1}));
}

TEST_F(Fallback, ASequenceThatBothRead) {
  EXPECT_EQ(check(R"(graph main(x: f32[4], y: f32[4]) {
    s = SequenceConstruct(x, y) a = ConcatFromSequence(s, axis=0) e = Exp(a) b = ConcatFromSequence(s, axis=0, new_axis=1) r = ReduceSum(b)
    return e, r })",
                  {"ReduceSum"}, {random({4}, 8), random({4}, 9)}),
            Counts{1});
}

TEST_F(Fallback, ASequenceThatTheFallbackMakes) {
  EXPECT_EQ(check(R"(graph main(x: f32[4], y: f32[4]) {
    e = Exp(x) s = SequenceConstruct(e, y) a = ConcatFromSequence(s, axis=0) return a })",
                  {"SequenceConstruct"}, {random({4}, 10), random({4}, 11)}),
            Counts{1});
}

constexpr std::string_view kBranches = R"(graph main(c: bool[], x: f32[n]) {
    y = If(c) then_branch={ graph(p: f32[n]) { a = Exp(p) b = Softplus(a) return b } } captures=[x]
      else_branch={ graph(p: f32[n]) { a = Softplus(p) b = Neg(a) return b } } captures=[x]
    return y })";

TEST_F(Fallback, AnOpInsideBothBranches) {
  for (const Tensor& flag : {kYes, kNo}) EXPECT_EQ(check(kBranches, {"Softplus"}, {flag, random({5}, 12)}), (Counts{0, 1, 1}));
}

TEST_F(Fallback, AWriteInABranch) {
  constexpr std::string_view kText = R"(graph main(c: bool[], x: f32[4], i: i64[2,1], u: f32[2]) {
    a = Neg(x)
    y = If(c) then_branch={ graph(p: f32[4], j: i64[2,1], v: f32[2]) { w = ScatterND(p, j, v) return w } } captures=[a, i, u]
      else_branch={ graph(p: f32[4]) { w = Exp(p) return w } } captures=[a]
    z = Add(y, a) return z })";
  const Tensor places = Tensor::of_i64({2, 1}, std::vector<int64_t>{1, 3});
  for (const Tensor& flag : {kYes, kNo})
    for (const char* op : {"ScatterND", "Neg", "Exp"}) check(kText, {op}, {flag, random({4}, 13), places, random({2}, 14)});
}

TEST_F(Fallback, ABranchWithoutNodes) {
  constexpr std::string_view kText = R"(graph main(c: bool[], x: f32[n]) {
    a = Exp(x)
    y = If(c) then_branch={ graph(p: f32[n]) { return p } } captures=[a] else_branch={ graph(p: f32[n]) { b = Neg(p) return b } } captures=[a]
    return y, a })";
  for (const Tensor& flag : {kYes, kNo})
    for (const char* op : {"Exp", "Neg"}) check(kText, {op}, {flag, random({5}, 15)});
}

constexpr std::string_view kLoop = R"(graph main(n: i64[], x: f32[batch,8], w: f32[8,8]) {
  last, rows = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[batch,8], m: f32[8,8]) {
    t = MatMul(v, m) h = Tanh(t) f = Cast(i, to=1) row = Add(h, f) return c, h, row } } captures=[w]
  s = ReduceSum(rows) return last, rows, s })";

TEST_F(Fallback, ALoopWithABodyOfTwoBackendsAndCarriedState) {
  const std::vector<Tensor> inputs = {number(4), random({3, 8}, 16), random({8, 8}, 17)};
  EXPECT_EQ(check(kLoop, {"Tanh"}, inputs), (Counts{1, 2}));
  EXPECT_EQ(check(kLoop, {"MatMul"}, inputs), (Counts{1, 1}));
}

TEST_F(Fallback, DataDependentSizes) {
  EXPECT_EQ(check(R"(graph main(x: f32[n]) { e = Exp(x) i = NonZero(x) j = Neg(i) k = Shape(j) l = Cast(k, to=1) return e, j, l })",
                  {"NonZero"}, {Tensor::of_f32({4}, std::vector<float>{0, 1, 0, 2})}),
            Counts{1});
}

/// There what comes behind an op whose results' sizes data tells stays with the fallback; here it may be accelerated.
TEST_F(Fallback, BoxesOfADataDependentNumber) {
  const Tensor boxes = Tensor::of_f32({1, 4, 4}, std::vector<float>{0, 0, 1, 1, 0, 0.05f, 1, 1.05f, 0, 2, 1, 3, 0, 4, 1, 5});
  const Tensor scores = Tensor::of_f32({1, 1, 4}, std::vector<float>{0.9f, 0.8f, 0.7f, 0.1f});
  EXPECT_EQ(check(R"(graph main(b: f32[1,n,4], s: f32[1,1,n]) {
    const most: i64[] = 3 const overlap: f32[] = 0.5 const least: f32[] = 0.3 const flat: i64[1] = [-1]
    c = Abs(b) k = NonMaxSuppression(c, s, most, overlap, least) f = Cast(k, to=1) e = Exp(f) m = Neg(e) t = Transpose(m) return t, k })",
                  {"NonMaxSuppression"}, {boxes, scores}),
            Counts{2});
}

TEST_F(Fallback, IntegersOfShapesCross) {
  check(R"(graph main(x: f32[n,m]) { s = Shape(x) r = ReduceProd(s, keepdims=1) y = Reshape(x, r) e = Exp(y) t = Mul(s, s) return e, t })",
        {"ReduceProd"}, {random({3, 4}, 18)});
}

TEST_F(Fallback, WhatWasSavedHasTheSameSegments) {
  const std::vector<Tensor> turns = {number(4), random({3, 8}, 16), random({8, 8}, 17)}, branches = {kNo, random({5}, 12)};
  for (const auto& [text, op, inputs] : {std::tuple{kLoop, "Tanh", turns}, {kBranches, "Softplus", branches}}) {
    auto all = compiled(text, 3, {op});
    ASSERT_TRUE(all) << all.error().text();
    Counts before, after;
    count_blobs(all->built.programs, before);
    const auto path = std::filesystem::temp_directory_path() / ("tenon_fallback_" + std::to_string(getpid()) + ".tenon");
    ASSERT_TRUE(save(*all, options_, path));
    runtime::Devices devices = all_devices(ops::table());
    devices.push_back(std::make_shared<tests::Renamed>("elsewhere"));
    const auto engine = runtime::load_engine(path, {.verify = true, .devices = devices});
    std::filesystem::remove(path);
    ASSERT_TRUE(engine) << engine.error().text();
    count_blobs((*engine)->programs(), after);
    EXPECT_EQ(before, after);
    const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs);
    const auto got = testing::copied_results(**runtime::Context::create(*engine), inputs);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "");
  }
}

}  // namespace
}  // namespace tenon::compiler
