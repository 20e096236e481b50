// SPDX-License-Identifier: Apache-2.0
// Backends that lack element types, and the Casts that they get.
#include "lacking.h"

namespace tenon::partition {
namespace {

TEST(Casts, ANodeOfAnUnsupportedTypeRunsInAWiderOne) {
  const Lacking acc("acc", {DType::f16});
  const Outcome got = partitioned("graph main(x: f16[4]) { a = Exp(x) return a }", {&acc, &kHost});
  // What has no f16 cannot cast it either.
  EXPECT_EQ(got.text, "host: Cast(f32) | acc: Exp(f32) | host: Cast(f16)");
  EXPECT_EQ(codes_of(got.node("Exp_0")), (Lines{"unsupported: acc: no f16", "chosen: acc runs it with f32 in place of f16"}));
  EXPECT_EQ(got.node("x.f32").reasons.back().text, "brings f16 to f32, which acc has");
  EXPECT_EQ(got.node("a.f16").reasons.back().text, "brings f32 back to f16");
  EXPECT_EQ(got.graph->value(got.graph->outputs()[0]).name, "a");
  EXPECT_EQ(got.graph->value(got.graph->outputs()[0]).type.text(), "f16[4]");
}

TEST(Casts, AppearOnlyAtTheSegmentBoundary) {
  const Lacking acc("acc", {DType::f16}, {"Erf"});
  const Outcome got =
      partitioned("graph main(x: f16[4]) { a = Exp(x) b = Neg(a) c = Erf(b) d = Sqrt(c) e = Add(d, b) return e }", {&acc, &kHost});
  EXPECT_EQ(got.text,
            "host: Cast(f32) | acc: Exp(f32) Neg(f32) | host: Cast(f16) Erf(f16) Cast(f32) | acc: Sqrt(f32) Add(f32) | host: Cast(f16)");
}

/// It takes both, but not one of the ops in f16: the Casts are its own.
TEST(Casts, RunOnTheBackendThatNeedsThem) {
  class Picky final : public backend::Backend {
   public:
    std::string_view name() const override { return "acc"; }
    std::string_view docs() const override { return "of a test"; }
    Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
      const ir::Node& n = graph.node(node);
      if (n.is("Cast") || graph.value(n.inputs[0]).type.dtype == DType::f32) return {};
      return fail(Code::not_supported, "", "no such kernel");
    }
    double cost(const ir::Graph&, ir::NodeId) const override { return 1; }
    Result<backend::Artifact> compile(const backend::CompileRequest&, const backend::Options&) const override { return backend::Blob(); }
  } const acc;
  const Lacking first("first", {DType::f16}, {"Exp", "Neg"});
  EXPECT_EQ(partitioned("graph main(x: f16[4]) { a = Exp(x) b = Neg(a) return b }", {&acc, &kHost}).text,
            "acc: Cast(f32) Exp(f32) Neg(f32) Cast(f16)");
  const Lacking all("first", {}, {"Exp", "Neg"});  // takes Casts, and would be one more segment
  EXPECT_EQ(partitioned("graph main(x: f16[4]) { a = Exp(x) b = Neg(a) return b }", {&all, &acc, &kHost}).text,
            "acc: Cast(f32) Exp(f32) Neg(f32) Cast(f16)");
}

TEST(Casts, WiderTypesAreTriedInOrder) {
  const Lacking no_f32("acc", {DType::f16, DType::f32});
  EXPECT_EQ(partitioned("graph main(x: f16[4]) { a = Exp(x) return a }", {&no_f32, &kHost}).text,
            "host: Cast(f64) | acc: Exp(f64) | host: Cast(f16)");
  const Lacking no_bytes("acc", {DType::i8, DType::u8, DType::i32});
  EXPECT_EQ(partitioned("graph main(x: i8[4]) { a = Neg(x) return a }", {&no_bytes, &kHost}).text,
            "host: Cast(i64) | acc: Neg(i64) | host: Cast(i8)");
  EXPECT_EQ(partitioned("graph main(x: u8[4]) { a = Add(x, x) return a }", {&no_bytes, &kHost}).text,
            "host: Cast(i64) | acc: Add(i64) | host: Cast(u8)");
}

TEST(Casts, ReachOnlyNodesRefusedForTheirTypes) {
  const Lacking acc("acc", {DType::f16}, {"Exp"});
  EXPECT_EQ(partitioned("graph main(x: f16[4]) { a = Exp(x) return a }", {&acc, &kHost}).text, "host: Exp(f16)");
  const Lacking no_bool("acc", {DType::boolean});
  EXPECT_EQ(partitioned("graph main(x: bool[4]) { a = Not(x) return a }", {&no_bool, &kHost}).text, "host: Not(bool)");
  const Lacking no_f64("acc", {DType::f64});
  EXPECT_EQ(partitioned("graph main(x: f64[4]) { a = Exp(x) return a }", {&no_f64, &kHost}).text, "host: Exp(f64)");
}

/// f64 to f32 and i64 to i32 lose values: the user's word.
TEST(Casts, NarrowOnlyWhereTheUserAllows) {
  const Lacking acc("acc", {DType::f64, DType::i64});
  Constraints constraints;
  constraints.narrow = {{DType::f64, DType::f32}, {DType::i64, DType::i32}};
  const Outcome got = partitioned("graph main(x: f64[4], i: i64[4]) { a = Exp(x) j = Add(i, i) return a, j }", {&acc, &kHost}, constraints);
  EXPECT_EQ(got.text, "host: Cast(f32) Cast(i32) | acc: Exp(f32) Add(i32) | host: Cast(f64) Cast(i64)");
  EXPECT_EQ(got.node("Exp_0").reasons.back().text, "acc runs it with f32 in place of f64 (as narrow allows: what does not fit changes)");
  EXPECT_EQ(got.node("x.f32").reasons.back().text, "brings f64 to f32, which acc has (as narrow allows: what does not fit changes)");
}

/// The largest i64 is the end of an axis: as i32 it would be -1.
TEST(Casts, ConstantsThatDoNotFitAreNotNarrowed) {
  const Lacking acc("acc", {DType::i64});
  Constraints constraints;
  constraints.narrow = {{DType::i64, DType::i32}};
  constexpr std::string_view kText = "graph main(x: i64[4]) {{ const w: i64[] = {} a = Add(x, w) return a }}";
  EXPECT_EQ(partitioned(fmt::format(kText, 5), {&acc, &kHost}, constraints).text, "host: Cast(i32) | acc: Add(i32) | host: Cast(i64)");
  EXPECT_EQ(partitioned(fmt::format(kText, INT64_MAX), {&acc, &kHost}, constraints).text, "host: Add(i64)");
}

TEST(Casts, ConstantsAreConvertedAtBuildTimeAndReadersShareOneCast) {
  const Lacking acc("acc", {DType::f16});
  const Outcome got =
      partitioned("graph main(x: f16[2]) { const w: f16[2] = [1, 2] a = Add(x, w) b = Mul(x, w) c = Sub(a, b) return c }", {&acc, &kHost});
  EXPECT_EQ(got.text, "host: Cast(f32) | acc: Add(f32) Mul(f32) Sub(f32) | host: Cast(f16)");
}

/// What a Cast of the source was made of is taken, where nothing is lost by it; what it rounds stays rounded.
TEST(Casts, ACastInTheModelIsNotFollowedByAnother) {
  const Lacking acc("acc", {DType::i32, DType::f16});
  EXPECT_EQ(partitioned("graph main(x: u8[4]) { c = Cast(x, to=6) a = Neg(c) return a }", {&acc, &kHost}).text,
            "acc: Cast(i64) Neg(i64) | host: Cast(i32)");
  EXPECT_EQ(partitioned("graph main(x: f32[4]) { c = Cast(x, to=10) a = Neg(c) return a }", {&acc, &kHost}).text,
            "host: Cast(f16) Cast(f32) | acc: Neg(f32) | host: Cast(f16)");
  const Lacking no_i64("acc", {DType::i64});
  Constraints constraints;
  constraints.narrow = {{DType::i64, DType::i32}};
  EXPECT_EQ(partitioned("graph main(x: i32[4]) { c = Cast(x, to=7) a = Neg(c) return a }", {&no_i64, &kHost}, constraints).text,
            "acc: Neg(i32) | host: Cast(i64)");
  EXPECT_EQ(partitioned("graph main(x: i32[4]) { c = Cast(x, to=7) a = Neg(c) return a, c }", {&no_i64, &kHost}, constraints).text,
            "acc: Neg(i32) | host: Cast(i64) Cast(i64)");
}

TEST(Casts, APairOfCastsInTheModelStays) {
  const Lacking acc("acc", {DType::f16});
  EXPECT_EQ(
      partitioned("graph main(x: f32[4]) { a = Neg(x) c = Cast(a, to=10) d = Cast(c, to=1) b = Exp(d) return b }", {&acc, &kHost}).text,
      "acc: Neg(f32) | host: Cast(f16) Cast(f32) | acc: Exp(f32)");
}

TEST(Casts, RespectConstraints) {
  const Lacking acc("acc", {DType::f16});
  constexpr std::string_view kText = "graph main(x: f16[4]) { a = Exp(x) return a }";
  Constraints forced;
  forced.fallback_ops = {"Exp"};
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, forced).text, "host: Exp(f16)");
  const Lacking lame("lame", {DType::f16});
  Constraints pinned;
  pinned.pins = {{"Exp_0", "lame"}};
  const Outcome got = partitioned(kText, {&kHost, &lame}, pinned);
  EXPECT_EQ(got.text, "host: Cast(f32) | lame: Exp(f32) | host: Cast(f16)");
  EXPECT_EQ(codes_of(got.node("Exp_0")),
            (Lines{"pinned: pin Exp_0=lame", "unsupported: lame: no f16", "chosen: lame runs it with f32 in place of f16"}));
  const Lacking other("lame", {DType::f16}, {"Exp"});
  EXPECT_NE(partitioned(kText, {&kHost, &other}, pinned).text.find("which it is pinned to, does not run it"), std::string::npos);
}

/// A segment that is given up leaves no Casts.
TEST(Casts, NodesOnTheFallbackKeepTheirTypes) {
  const Lacking acc("acc", {DType::f16}, {"Erf"});
  Constraints constraints;
  constraints.min_block_size = 2;
  constexpr std::string_view kText = "graph main(x: f16[4]) { a = Exp(x) b = Erf(a) c = Neg(b) d = Abs(c) return d }";
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, constraints).text,
            "host: Exp(f16) Erf(f16) Cast(f32) | acc: Neg(f32) Abs(f32) | host: Cast(f16)");
  constraints.min_block_size = 3;
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, constraints).text, "host: Exp(f16) Erf(f16) Neg(f16) Abs(f16)");
}

TEST(Casts, InsertedWhenAssigningByCost) {
  const Lacking acc("acc", {DType::f16}), dear("dear", {DType::f16});
  Constraints constraints;
  constraints.assign = Assign::cost;
  constexpr std::string_view kText = "graph main(x: f16[4]) { a = Exp(x) b = Neg(a) c = Abs(b) d = Sqrt(c) return d }";
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, constraints).text,
            "host: Cast(f32) | acc: Exp(f32) Neg(f32) Abs(f32) Sqrt(f32) | host: Cast(f16)");
  EXPECT_EQ(partitioned(kText, {&dear, &kHost}, constraints).text, "host: Exp(f16) Neg(f16) Abs(f16) Sqrt(f16)");
}

/// A weight of 32 bytes each in f32, and 64 for what a node reads and gives: two have room. What has none is as it was.
TEST(Casts, NarrowTypesNeedLessMemory) {
  const Lacking acc("acc", {DType::f64});
  Constraints constraints;
  constraints.narrow = {{DType::f64, DType::f32}};
  constexpr std::string_view kText = R"(graph main(x: f64[8]) {
    const p: f64[8] = [1, 2, 3, 4, 5, 6, 7, 8] const q: f64[8] = [2, 2, 3, 4, 5, 6, 7, 8] const r: f64[8] = [3, 2, 3, 4, 5, 6, 7, 8]
    a = Add(x, p) b = Mul(a, q) c = Sub(b, r) return c })";
  constraints.memory = {{"acc", 160}};
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, constraints).text, "host: Cast(f32) | acc: Add(f32) Mul(f32) Sub(f32) | host: Cast(f64)");
  constraints.memory = {{"acc", 130}};
  EXPECT_EQ(partitioned(kText, {&acc, &kHost}, constraints).text, "host: Cast(f32) | acc: Add(f32) Mul(f32) | host: Cast(f64) Sub(f64)");
  constraints.memory = {{"acc", 95}};
  EXPECT_NE(partitioned(kText, {&acc, &kHost}, constraints).text.find("at least 96 bytes"), std::string::npos);
}

TEST(Casts, DoNotCountAsWork) {
  const Lacking acc("acc", {DType::f16});
  Constraints constraints;
  constraints.require_full = true;
  const Outcome got = partitioned("graph main(x: f16[4]) { a = Exp(x) return a }", {&acc, &kHost}, constraints);
  EXPECT_EQ(got.text, "host: Cast(f32) | acc: Exp(f32) | host: Cast(f16)");
  const backend::Backends backends = {&acc, &kHost};
  EXPECT_EQ(got.partition.accelerated_share(Roles(backends, size_t{0})), 1);
}

TEST(Casts, AreInsertedInBodies) {
  const Lacking acc("acc", {DType::f16}, {"If"});
  const Outcome got = partitioned(R"(graph main(c: bool[], x: f16[4]) {
    y = If(c) then_branch={ graph(h) { p = Exp(h) return p } } captures=[x] else_branch={ graph(h) { q = Neg(h) return q } } captures=[x]
    return y })",
                                  {&acc, &kHost});
  ASSERT_EQ(got.partition.nodes.size(), 1u) << got.text;
  const ir::Node& branch = got.graph->node(got.partition.nodes[0].node);
  ASSERT_EQ(got.partition.nodes[0].bodies.size(), 2u);
  EXPECT_EQ(text_of(*branch.bodies[0].graph, got.partition.nodes[0].bodies[0]), "host: Cast(f32) | acc: Exp(f32) | host: Cast(f16)");
}

/// Where nobody refuses, nobody is asked more than without; where many equal nodes are refused, one is tried.
TEST(Casts, AreNotInsertedWhereNothingIsRefused) {
  const auto asked = [](std::string_view text, const Lacking& acc, bool casts) {
    auto graph = graph_of(text);
    const backend::Backends backends = {&acc, &kHost};
    const Roles roles(backends, size_t{0});
    acc.asked = 0;
    EXPECT_TRUE(casts ? partition_with_casts(graph, roles, {}) : partition(*graph, roles, {}));
    return acc.asked;
  };
  std::string many = "graph main(x: f16[4]) { v0 = Erf(x) ";
  for (int k = 1; k < 50; ++k) many += fmt::format("v{} = Erf(v{}) ", k, k - 1);
  many += "return v49 }";
  const Lacking all("acc", {}), refuses("acc", {}, {"Erf"});
  EXPECT_EQ(asked(many, all, true), asked(many, all, false));
  EXPECT_LE(asked(many, refuses, true), asked(many, refuses, false) + 3);
}

TEST(Casts, NamesOfOtherNodesStay) {
  const Lacking acc("acc", {DType::f16});
  const Outcome got = partitioned("graph main(x: f16[4], z: f32[4]) { a = Exp(x) b = Neg(a) c = Abs(z) return b, c }", {&acc, &kHost});
  Lines names;
  for (const NodePlacement& n : got.partition.nodes) names.push_back(n.name);
  EXPECT_EQ(names, (Lines{"x.f32", "Exp_0", "Neg_1", "b.f16", "Abs_2"}));
  EXPECT_EQ(got.graph->node(got.node("x.f32").node).provenance->sources, (Lines{"Exp_0"}));
  EXPECT_EQ(got.graph->node(got.node("b.f16").node).provenance->sources, (Lines{"Neg_1"}));
}

/// The three tests that Torch-TensorRT has of its Casts. There longs are cut short wherever the accelerator stands, and the fallback gets
/// its Casts for all operands; here a Cast is where types differ, and the fallback keeps those of the model.
Constraints forced(std::string op) {
  Constraints out;
  out.fallback_ops = {std::move(op)};
  out.narrow = {{DType::i64, DType::i32}};
  return out;
}
size_t casts_in(const Outcome& got, size_t segment) {
  const auto& nodes = got.partition.segments[segment].nodes;
  return static_cast<size_t>(std::ranges::count_if(nodes, [&](ir::NodeId n) { return got.graph->node(n).is("Cast"); }));
}

/// Places that the model casts itself: its Cast, and the one after what reads them too.
TEST(OriginalCasts, InExplicitCase) {
  const Lacking acc("acc", {DType::i64});
  const Outcome got = partitioned(R"(graph main(x: i32[2,3], d: f32[2,3], u: f32[2,3]) {
    i = Add(x, x) l = Cast(i, to=7) s = ScatterElements(d, l, u, axis=1) m = Add(l, l) r = Relu(s) return r, m })",
                                  {&acc, &kHost}, forced("ScatterElements"));
  EXPECT_EQ(got.text, "acc: Add(i32) Add(i32) | host: Cast(i64) ScatterElements(f32) Cast(i64) | acc: Relu(f32)");
  EXPECT_EQ(casts_in(got, 1), 2u);
}

TEST(OriginalCasts, InImplicitCase) {
  const Lacking acc("acc", {DType::i64});
  const Outcome got = partitioned(R"(graph main(x: i64[1,3]) {
    const to: i64[2] = [2, 3]
    a = Add(x, x) e = Expand(a, to) b = Mul(e, e) return b })",
                                  {&acc, &kHost}, forced("Expand"));
  EXPECT_EQ(got.text, "host: Cast(i32) | acc: Add(i32) | host: Cast(i64) Expand(i64) Cast(i32) | acc: Mul(i32) | host: Cast(i64)");
  EXPECT_EQ(casts_in(got, 2), 2u) << "the first segment brings the model's own operands";
}

TEST(OriginalCasts, OfBytes) {
  const Lacking acc("acc", {DType::u8});
  const Outcome got = partitioned(R"(graph main(s: i64[2]) {
    o = ConstantOfShape(s, value=u8[1] = [1]) a = Add(o, o) f = Cast(a, to=1) return f })",
                                  {&acc, &kHost}, forced("ConstantOfShape"));
  EXPECT_EQ(got.text.substr(0, got.text.find(" | ", 7)), "host: ConstantOfShape(u8) Cast(i32)");
  EXPECT_EQ(casts_in(got, 0), 1u);
}

std::string refused(std::vector<Narrowing> narrow, const backend::Backends& backends) {
  Constraints constraints;
  constraints.narrow = std::move(narrow);
  const auto checked = check_narrowing(constraints, Roles(backends, size_t{0}));
  return checked ? "" : std::string(checked.error()->what);
}

TEST(Narrowing, RefusesTypesThatAreNotNarrower) {
  const Lacking acc("acc", {});
  const backend::Backends two = {&acc, &kHost}, one = {&kHost};
  EXPECT_EQ(refused({{DType::f64, DType::f32}, {DType::i64, DType::i32}}, two), "");
  EXPECT_EQ(refused({{DType::f16, DType::f32}}, two), "this narrows nothing");
  EXPECT_EQ(refused({{DType::f32, DType::f32}}, two), "this narrows nothing");
  EXPECT_EQ(refused({{DType::i64, DType::f32}}, two), "neither type contains the other");
  EXPECT_EQ(refused({{DType::i64, DType::u32}}, two), "neither type contains the other");
  EXPECT_EQ(refused({{DType::f64, DType::f32}, {DType::f64, DType::f16}}, two), "f64 is to become two types");
  EXPECT_EQ(refused({{DType::f64, DType::f32}}, one), "no backend is accelerated that might lack a type");
}

}  // namespace
}  // namespace tenon::partition
