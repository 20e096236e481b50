// SPDX-License-Identifier: Apache-2.0
// Small graphs on which partitioners of other systems went wrong: cycles between segments, results that are lost or given twice, orders.
#include <chrono>

#include "named.h"
#include "partition/cut/fewest.h"
#include "random_problems.h"

namespace tenon::partition {
namespace {

using Lists = std::vector<std::string>;

Partition shares_on(const ir::Graph& graph, const backend::Backends& backends, const Constraints& constraints = {}) {
  auto out = partition(graph, Roles(backends, constraints), constraints);
  EXPECT_TRUE(out) << out.error().text();
  EXPECT_TRUE(ir::schedule_units(graph, out->segments)) << "segments need each other";
  return *std::move(out);
}

/// `accelerated` on one backend, the rest on the host.
Partition shares_of(const ir::Graph& graph, std::vector<std::string> accelerated, uint32_t least = 0) {
  const TwoBackends two(graph, std::move(accelerated));
  Constraints constraints;
  constraints.min_block_size = least;
  return shares_on(graph, two.all, constraints);
}

Lists lists(std::string_view text, std::vector<std::string> accelerated, uint32_t least = 0) {
  const auto graph = graph_of(text);
  return lists_of(*graph, shares_of(*graph, std::move(accelerated), least));
}

Lists names(const ir::Graph& graph, std::span<const ir::ValueId> values) {
  Lists out;
  for (ir::ValueId v : values) out.push_back(graph.value(v).name);
  return out;
}

TEST(Cycles, ADiamondWithABranchOnAnotherBackend) {
  EXPECT_EQ(lists("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) d = Abs(a) c = Add(b, d) return c }", {"a", "b", "c"}),
            (Lists{"acc: a b", "host: d", "acc: c"}));
}

/// Each pair is convex, and yet one of them must be parted.
TEST(Cycles, TwoConvexClustersThatDependOnEachOther) {
  EXPECT_EQ(lists("graph main(x: f32[4]) { a = Exp(x) d = Neg(x) b = Abs(d) c = Sqrt(a) return b, c }", {"a", "b"}).size(), 3u);
}

TEST(Cycles, ThroughThreeBackends) {
  const auto graph = graph_of("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) c = Abs(b) d = Sqrt(c) e = Neg(x) f = Add(e, d) return f }");
  const Named one("one", {"a", "d", "e"}), two("two", {"b", "f"}), host("host", {"c"});
  const Partition partition = shares_on(*graph, {&one, &two, &host});
  EXPECT_EQ(lists_of(*graph, partition), (Lists{"one: a e", "two: b", "host: c", "one: d", "two: f"}));
  EXPECT_TRUE(partition.proved());
}

TEST(Cycles, InterleavedGroupsAreJoinedBothWays) {
  constexpr std::string_view kText =
      "graph main(x: f32[4], y: f32[4]) { a = Exp(x) p = Neg(y) b = Abs(a) q = Sqrt(p) c = Add(a, q) r = Add(p, b) return c, r }";
  EXPECT_EQ(lists(kText, {"a", "b", "c"}), (Lists{"acc: a b", "host: p q r", "acc: c"}));
  EXPECT_EQ(lists(kText, {"p", "q", "r"}), (Lists{"acc: p q", "host: a b c", "acc: r"}));
}

TEST(Constants, DoNotJoinSegments) {
  constexpr std::string_view kText = R"(graph main(x: f32[4], y: f32[4]) { const k: f32[4] = [1, 2, 3, 4]
    a = Add(x, k) b = Neg(a) c = Mul(b, k) d = Mul(y, k) return c, d })";
  const auto graph = graph_of(kText);
  const Partition apart = shares_of(*graph, {"a", "c", "d"});
  EXPECT_EQ(lists_of(*graph, apart).size(), 3u);
  for (const Border& b : apart.borders) EXPECT_NE(graph->value(b.value).name, "k");
  for (const ir::Segment& s : apart.segments) EXPECT_EQ(std::ranges::count(names(*graph, s.operands), "k"), 0);
  EXPECT_EQ(lists(kText, {"a", "b", "c", "d"}), (Lists{"acc: a b c d"}));
}

/// By way of a Cast, on both sides at once, several to a node, and beside an input.
TEST(Constants, OfAnyKindDoNotJoinSegments) {
  constexpr std::string_view kText = R"(graph main(x: f32[4], y: f32[4], p: f32[4]) {
    const k: f32[4] = [1, 2, 3, 4] const low: f32[] = 0 const high: f32[] = 6 const whole: i64[4] = [4, 3, 2, 1]
    f = Cast(whole, to=1) a = Add(x, f) b = Mul(a, k) c = Clip(b, low, high) d = Mul(y, f) e = Sub(d, p) g = Add(c, k) h = Mul(e, p)
    return g, h })";
  EXPECT_EQ(lists(kText, {"f", "a", "c", "d", "e", "h"}), (Lists{"host: f", "acc: a d e h", "host: b", "acc: c", "host: g"}));
  EXPECT_EQ(lists(kText, {"f", "a", "b", "c", "d", "e", "g", "h"}), (Lists{"host: f", "acc: a b c d e g h"}));
  const auto graph = graph_of(kText);
  for (const Border& b : shares_of(*graph, {"b", "e"}).borders) EXPECT_FALSE(graph->value(b.value).is_constant());
}

TEST(Orders, TheOrderInTheFileDoesNotSplitSegments) {
  EXPECT_EQ(lists("graph main(x: f32[4], y: f32[4]) { a = Exp(x) u = Neg(y) b = Abs(a) return b, u }", {"a", "b"}),
            (Lists{"acc: a b", "host: u"}));
}

TEST(Orders, TwoOfFourThatDependOnEachOtherAreTwoSegments) {
  const auto graph = graph_of("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) c = Abs(x) d = Add(b, c) return d }");
  const TwoBackends two(*graph, {"a", "d"});
  EXPECT_EQ(shares_on(*graph, two.all).device_segments(two.roles).size(), 2u);
}

TEST(Orders, OfOperandsAndResultsAreThoseOfTheirUse) {
  const auto graph = graph_of(R"(graph main(z: f32[4], x: f32[4], y: f32[4]) {
    b = Add(y, z) a = Add(x, y) h = Neg(a) g = Neg(b) c = Mul(h, x) d = Mul(g, z) return d, h, c, g })");
  const Partition partition = shares_of(*graph, {"a", "b", "c", "d"});
  EXPECT_EQ(names(*graph, partition.segments[0].operands), (Lists{"y", "z", "x"}));
  EXPECT_EQ(names(*graph, partition.segments[0].results), (Lists{"b", "a"}));
  EXPECT_EQ(names(*graph, partition.segments[2].operands), (Lists{"h", "x", "g", "z"}));
  EXPECT_EQ(names(*graph, partition.segments[2].results), (Lists{"c", "d"}));
  EXPECT_EQ(names(*graph, graph->outputs()), (Lists{"d", "h", "c", "g"}));
}

TEST(Results, AValueWithThreeReadersIsOneResult) {
  const auto graph = graph_of("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) c = Abs(a) d = Sqrt(a) return b, c, d }");
  const Partition partition = shares_of(*graph, {"a"});
  EXPECT_EQ(names(*graph, partition.segments[0].results), (Lists{"a"}));
  EXPECT_EQ(partition.borders.size(), 1u);
}

TEST(Results, AnOutputThatIsUsedInsideAndAnInputThatIsReturned) {
  const auto graph = graph_of("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) c = Abs(b) return a, x, c }");
  const Partition partition = shares_of(*graph, {"a", "b", "c"});
  ASSERT_EQ(partition.segments.size(), 1u);
  EXPECT_EQ(names(*graph, partition.segments[0].results), (Lists{"a", "c"}));
  EXPECT_TRUE(partition.borders.empty());
}

TEST(Results, ThatAreTwoGraphOutputsAreOneResult) {
  const auto graph = graph_of("graph main(x: f32[4]) { a = Exp(x) b = Neg(a) return b, a, b as \"again\" }");
  const Partition partition = shares_of(*graph, {"a"});
  EXPECT_EQ(names(*graph, partition.segments[0].results), (Lists{"a"}));
  EXPECT_EQ(names(*graph, partition.segments[1].results), (Lists{"b"}));
  EXPECT_EQ(names(*graph, graph->outputs()), (Lists{"b", "a", "b"}));
}

TEST(Results, OfSegmentsWithoutOperandsAndOfUnusedNodes) {
  const auto graph = graph_of(R"(graph main(x: f32[4]) { const k: f32[4] = [1, 2, 3, 4]
    a = Exp(k) b = Add(x, a) dead = Neg(b) return b })");
  const Partition partition = shares_of(*graph, {"a", "dead"});
  EXPECT_EQ(lists_of(*graph, partition), (Lists{"acc: a", "host: b", "acc: dead"}));
  EXPECT_TRUE(partition.segments[0].operands.empty());
  EXPECT_TRUE(partition.segments[2].results.empty());
}

TEST(Results, OfAGraphWithoutNodes) {
  const auto graph = graph_of("graph main(x: f32[4]) { return x }");
  const Named one("one", {}), host("host", {});
  const Partition partition = shares_on(*graph, {&one, &host});
  EXPECT_TRUE(partition.segments.empty());
  EXPECT_TRUE(partition.proved());
  EXPECT_EQ(partition.accelerated_share(Roles({&one, &host}, size_t{0})), 1);
}

TEST(Results, AMissingOperandCrossesNoBorder) {
  const auto graph = graph_of("graph main(x: f32[4], most: f32[]) { a = Exp(x) b = Clip(a, _, most) return b }");
  const Partition partition = shares_of(*graph, {"b"});
  EXPECT_EQ(names(*graph, partition.segments[1].operands), (Lists{"a", "most"}));
}

TEST(Results, OfANodeWithOneUsedResultOfSeveral) {
  const auto graph = graph_of("graph main(x: f32[4], k: i64[1]) { v, i = TopK(x, k) n = Neg(i) return n }");
  const Partition partition = shares_of(*graph, {"v"});
  EXPECT_EQ(std::ranges::count(names(*graph, partition.segments[0].results), "i"), 1);
}

/// What only bodies read, however deep, comes before their node and crosses its border.
TEST(Bodies, ACaptureTwoLevelsUpIsAnOperand) {
  const auto graph = graph_of(R"(graph main(c: bool[], x: f32[n]) {
    far = Exp(x)
    y = If(c) then_branch={ graph(d: bool[], f: f32[n]) {
        z = If(d) then_branch={ graph(g: f32[n]) { deep = Abs(g) return deep } } captures=[f]
          else_branch={ graph(g: f32[n]) { other = Sqrt(g) return other } } captures=[f]
        return z } } captures=[c, far]
      else_branch={ graph(f: f32[n]) { flat = Neg(f) return flat } } captures=[far]
    return y })");
  const Named acc("acc", {"far", "deep"}), host("host", {"y", "z", "other", "flat"});
  const Partition partition = shares_on(*graph, {&acc, &host});
  ASSERT_EQ(lists_of(*graph, partition), (Lists{"acc: far", "host: y"}));
  EXPECT_EQ(names(*graph, partition.segments[1].operands), (Lists{"c", "far"}));
  const Partition& outer = partition.nodes[1].bodies[0];
  ASSERT_EQ(outer.segments.size(), 1u);
  const Partition& inner = outer.nodes[0].bodies[0];
  EXPECT_EQ(inner.segments[0].backend, "acc");
}

TEST(Bodies, ABranchWithoutNodesHasNoSegments) {
  const auto graph = graph_of(R"(graph main(c: bool[], x: f32[n]) {
    y = If(c) then_branch={ graph(t: f32[n]) { return t } } captures=[x] else_branch={ graph(t: f32[n]) { a = Exp(t) return a } } captures=[x]
    return y })");
  const Named acc("acc", {"a"}), host("host", {"y"});
  const Partition partition = shares_on(*graph, {&acc, &host});
  EXPECT_TRUE(partition.nodes[0].bodies[0].segments.empty());
  EXPECT_EQ(partition.nodes[0].bodies[1].segments.size(), 1u);
}

TEST(LeastSize, CountsNodesThatDoWork) {
  constexpr std::string_view kText = R"(graph main(x: f32[4]) { const flat: i64[1] = [-1]
    a = Exp(x) r = Reshape(a, flat) i = Identity(r) b = Neg(i) c = Abs(b) h = Sqrt(c) return h })";
  const std::vector<std::string> accelerated = {"a", "r", "i", "b", "c"};
  for (uint32_t least : {1, 2, 3}) EXPECT_EQ(lists(kText, accelerated, least).size(), 2u) << least;
  EXPECT_EQ(lists(kText, accelerated, 4), (Lists{"host: a r i b c h"}));
}

TEST(Fewest, AHundredThousandNodesArePartitionedQuickly) {
  Draw draw(4);
  const Problem problem = supported(draw, Kind::window, 100'000, 0.8);
  const auto start = std::chrono::steady_clock::now();
  const Cut cut = fewest_segments(problem);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 3);  // 0.1 on a quiet machine
  EXPECT_TRUE(cut.proved());
  EXPECT_TRUE(is_legal(problem, cut));
}

}  // namespace
}  // namespace tenon::partition
