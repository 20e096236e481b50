// SPDX-License-Identifier: Apache-2.0
// The tests of Torch-TensorRT's partitioner, on the graphs that they draw: which nodes, operands and shapes each segment has.
#include "named.h"

namespace tenon::partition {
namespace {

/// Weights are inputs, as there. `log` stands for what nobody accelerates.
constexpr std::string_view kSequential = R"(graph main(x: f32[3,3,16,16], w1: f32[32,3,3,3], b1: f32[32], w2: f32[16,32,3,3], b2: f32[16],
    w3: f32[8,16,3,3], b3: f32[8]) {
  c1 = Conv(x, w1, b1, pads=[1,1,1,1]) r = Relu(c1) c2 = Conv(r, w2, b2, pads=[1,1,1,1]) log = Softplus(c2)
  c3 = Conv(log, w3, b3, pads=[1,1,1,1]) return c3 })";
constexpr std::string_view kBranched = R"(graph main(x: f32[3,3,16,16], w1: f32[32,3,3,3], b1: f32[32], w2: f32[16,32,3,3], b2: f32[16],
    w3: f32[16,32,3,3], b3: f32[16]) {
  c1 = Conv(x, w1, b1, pads=[1,1,1,1]) c2 = Conv(c1, w2, b2, pads=[1,1,1,1]) log = Softplus(c1)
  c3 = Conv(log, w3, b3, pads=[1,1,1,1]) r = Relu(c2) sum = Add(c3, r)
  pool = MaxPool(sum, kernel_shape=[2,2]) return pool })";

Partition shares_of(const ir::Graph& graph, const std::vector<std::string>& fallback, Constraints constraints = {}) {
  const TwoBackends two(graph, all_but(graph, fallback));
  constraints.listed = 2;
  auto out = partition(graph, two.roles, constraints);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

Constraints walk(uint32_t least = 1) {
  Constraints out;
  out.segmenter = Segmenter::walk;
  out.min_block_size = least;
  return out;
}

using Lists = std::vector<std::string>;

TEST(OriginalLists, OfTheSequentialModel) {
  const auto graph = graph_of(kSequential);
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"}, walk())), (Lists{"acc: c1 r c2", "host: log", "acc: c3"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"}, walk(3))), (Lists{"acc: c1 r c2", "host: log c3"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log", "r"}, walk())), (Lists{"acc: c1", "host: r", "acc: c2", "host: log", "acc: c3"}));
}

TEST(OriginalLists, OfTheBranchedModel) {
  const auto graph = graph_of(kBranched);
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"}, walk())), (Lists{"acc: c1 c2", "host: log", "acc: c3 r sum pool"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"}, walk(3))), (Lists{"host: c1 c2 log", "acc: c3 r sum pool"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log", "r"}, walk())), (Lists{"acc: c1 c2", "host: log r", "acc: c3 sum pool"}));
}

/// The relu may run in the first segment too, which is then large enough to stay.
TEST(OriginalLists, FewestFillsSegmentsThatTheWalkDrops) {
  const auto graph = graph_of(kBranched);
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"})), (Lists{"acc: c1 c2 r", "host: log", "acc: c3 sum pool"}));
  Constraints three;
  three.min_block_size = 3;
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"log"}, three)), (Lists{"acc: c1 c2 r", "host: log", "acc: c3 sum pool"}));
}

/// There too, as sizes are no tensors. Here because the host backend has them at hand.
TEST(OriginalLists, SizesStayOnTheHost) {
  const auto graph = graph_of(R"(graph main(x: f32[4,4], i: i32[2,1], u: f32[2,4]) {
    const flat: i64[2] = [2, 8] const square: i64[2] = [4, 4]
    a = Reshape(x, flat) b = Reshape(a, square) c = Neg(b) d = Cast(i, to=7) e = Shape(c) f = Identity(e)
    g = ScatterND(c, d, u) h = Reshape(g, f) return h })");
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"g"}, walk(1))), (Lists{"acc: a b c d", "host: e f g", "acc: h"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"g"}, walk(2))), (Lists{"acc: a b c d", "host: e f g h"}));
}

/// Its least size of three, where every node does work.
TEST(OriginalLists, SmallSegmentsFallBackWithTheirSizes) {
  const auto graph = graph_of(R"(graph main(x: f32[4,4], i: i32[2,1], u: f32[2,4]) {
    a = Exp(x) b = Abs(a) c = Neg(b) d = Cast(i, to=7) e = Shape(c) f = Identity(e)
    g = ScatterND(c, d, u) h = Expand(g, f) return h })");
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"g"}, walk(1))), (Lists{"acc: a b c d", "host: e f g", "acc: h"}));
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"g"}, walk(3))), (Lists{"acc: a b c d", "host: e f g h"}));
}

TEST(OriginalLists, ASegmentWaitsOnlyForItsOperands) {
  const auto graph = graph_of(R"(graph main(x: f32[4], y: f32[4]) {
    add = Add(x, y) lx = Erf(x) mul = Mul(x, add) ly = Erf(y) div = Div(mul, y) ld = Erf(div)
    s = SequenceConstruct(lx, ly, ld) cat = ConcatFromSequence(s, axis=0) return cat })");
  EXPECT_EQ(lists_of(*graph, shares_of(*graph, {"lx", "ly", "ld"}, walk())), (Lists{"acc: add mul div", "host: lx ly ld", "acc: s cat"}));
}

std::vector<std::string> operand_types(const ir::Graph& graph, const ir::Segment& segment) {
  std::vector<std::string> out;
  const auto cut = ir::extract_segment(graph, segment);
  for (ir::ValueId v : cut->inputs()) out.push_back(cut->value(v).name + ": " + cut->value(v).type.text());
  return out;
}

TEST(OriginalShapes, OfTheOperandsOfTheSequentialModel) {
  const auto graph = graph_of(kSequential);
  const Partition partition = shares_of(*graph, {"log"}, walk());
  EXPECT_EQ(operand_types(*graph, partition.segments[0]),
            (Lists{"x: f32[3,3,16,16]", "w1: f32[32,3,3,3]", "b1: f32[32]", "w2: f32[16,32,3,3]", "b2: f32[16]"}));
  EXPECT_EQ(operand_types(*graph, partition.segments[1]), (Lists{"c2: f32[3,16,16,16]"}));
  EXPECT_EQ(operand_types(*graph, partition.segments[2]), (Lists{"log: f32[3,16,16,16]", "w3: f32[8,16,3,3]", "b3: f32[8]"}));
}

TEST(OriginalShapes, OfTheOperandsOfTheBranchedModel) {
  const auto graph = graph_of(kBranched);
  const Partition partition = shares_of(*graph, {"log"}, walk());
  EXPECT_EQ(operand_types(*graph, partition.segments[0]),
            (Lists{"x: f32[3,3,16,16]", "w1: f32[32,3,3,3]", "b1: f32[32]", "w2: f32[16,32,3,3]", "b2: f32[16]"}));
  EXPECT_EQ(operand_types(*graph, partition.segments[1]), (Lists{"c1: f32[3,32,16,16]"}));
  EXPECT_EQ(operand_types(*graph, partition.segments[2]),  // in the order of their first use
            (Lists{"log: f32[3,32,16,16]", "w3: f32[16,32,3,3]", "b3: f32[16]", "c2: f32[3,16,16,16]"}));
}

TEST(OriginalShapes, OfADynamicAndAStaticOperand) {
  const auto graph = graph_of("graph main(x: f32[n,4], w: f32[1,4]) { a = Neg(x) y = Add(a, w) return y }");
  graph->symbols().symbol("n", 2, 8);
  const Partition partition = shares_of(*graph, {"a"}, walk());
  EXPECT_EQ(operand_types(*graph, partition.segments[1]), (Lists{"a: f32[n,4]", "w: f32[1,4]"}));
  std::vector<std::pair<int64_t, int64_t>> bounds;
  for (ir::ValueId v : partition.segments[1].operands)
    for (const Dim& d : *graph->value(v).type.shape) bounds.emplace_back(d.lower(), d.upper());
  EXPECT_EQ(bounds, (std::vector<std::pair<int64_t, int64_t>>{{2, 8}, {4, 4}, {1, 1}, {4, 4}}));
}

TEST(OriginalStitching, EveryOperandIsComputedBefore) {
  for (std::string_view text : {kSequential, kBranched}) {
    const auto graph = graph_of(text);
    const Partition partition = shares_of(*graph, {"log"}, walk());
    const auto units = ir::schedule_units(*graph, partition.segments);
    ASSERT_TRUE(units) << units.error().text();
    std::vector<ir::ValueId> known(graph->inputs().begin(), graph->inputs().end());
    for (const ir::ScheduleUnit& unit : *units)
      for (ir::NodeId n : unit.segment->nodes) {
        for (ir::ValueId v : graph->node(n).inputs) EXPECT_EQ(std::ranges::count(known, v), 1) << graph->value(v).name;
        known.insert(known.end(), graph->node(n).outputs.begin(), graph->node(n).outputs.end());
      }
  }
}

TEST(OriginalConversion, TwoSegmentsAreTheBackends) {
  for (std::string_view text : {kSequential, kBranched}) {
    const auto graph = graph_of(text);
    const TwoBackends two(*graph, all_but(*graph, {"log"}));
    EXPECT_EQ(partition(*graph, two.roles, walk())->device_segments(two.roles).size(), 2u);
  }
}

}  // namespace
}  // namespace tenon::partition
