// SPDX-License-Identifier: Apache-2.0
// What is never split: quantized units, and what passes on values that are no tensors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "named.h"
#include "partition/what_if.h"

namespace tenon::partition {
namespace {

constexpr std::string_view kQuantized = R"(graph main(x: u8[4], w: u8[4]) {
  const scale: f32[] = 0.5 const zero: u8[] = 3
  a = DequantizeLinear(x, scale, zero) b = DequantizeLinear(w, scale, zero) sum = Add(a, b)
  q = QuantizeLinear(sum, scale, zero) d = DequantizeLinear(q, scale, zero) r = Exp(d) return r })";

using Lists = std::vector<std::string>;

/// Of one graph on `acc`, which runs all but some nodes, and `host`, which runs all.
struct Sharing {
  Sharing(std::string_view text, const std::vector<std::string>& others) : graph(graph_of(text)), two(*graph, all_but(*graph, others)) {}
  Result<Partition> run(Constraints constraints = {}) {
    constraints.listed = 2;
    TRY(attach_constraints(*graph, constraints, two.roles));
    return partition(*graph, two.roles, constraints);
  }
  Lists lists(Constraints constraints = {}) {
    const auto partition = run(std::move(constraints));
    return partition ? lists_of(*graph, *partition) : Lists{partition.error().text()};
  }
  std::unique_ptr<ir::Graph> graph;
  TwoBackends two;
};

TEST(AtomicGroups, QuantizedGroupGoesToABackendThatRunsAllOfIt) {
  EXPECT_EQ(Sharing(kQuantized, {}).lists(), (Lists{"acc: a b sum q d r"}));
  EXPECT_EQ(Sharing(kQuantized, {"sum"}).lists(), (Lists{"host: a b sum q", "acc: d r"}));
  EXPECT_EQ(Sharing(kQuantized, {"q"}).lists(), (Lists{"host: a b sum q", "acc: d r"}));
  EXPECT_EQ(Sharing(kQuantized, {"r"}).lists(), (Lists{"acc: a b sum q", "host: d r"}));
  Sharing sharing(kQuantized, {"sum"});
  const auto partition = sharing.run();
  EXPECT_EQ(partition->nodes[0].reasons.back().code, "unsupported");
  EXPECT_EQ(partition->nodes[0].reasons.back().text, "'Add_2', which it is grouped with, is not accelerated");
}

TEST(AtomicGroups, GroupIsOneSegmentThoughItsPartsCouldRunApart) {
  // b's dequantizing could run before h, the sum only after it.
  const auto text = R"(graph main(x: f32[4], w: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    e = Exp(w2) h = Neg(e) b = DequantizeLinear(w, scale, zero) sum = Add(h, b) q = QuantizeLinear(sum, scale, zero) return q })";
  std::string written = text;
  written.replace(written.find("w2"), 2, "x");
  EXPECT_EQ(Sharing(written, {"h"}).lists(), (Lists{"acc: e", "host: h", "acc: b sum q"}));
}

TEST(AtomicGroups, ValuesWithOtherReadersAreInNoGroup) {
  const auto text = R"(graph main(x: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    a = DequantizeLinear(x, scale, zero) s = Exp(a) t = Neg(a) return s, t })";
  EXPECT_EQ(Sharing(text, {"s"}).lists(), (Lists{"acc: a t", "host: s"}));
}

TEST(AtomicGroups, ConstraintsMoveTheWholeGroup) {
  Constraints fallback;
  fallback.fallback_ops = {"Add"};
  EXPECT_EQ(Sharing(kQuantized, {}).lists(fallback), (Lists{"host: a b sum q", "acc: d r"}));
  Constraints pin;
  pin.pins = {{"Add_2", "acc"}};
  EXPECT_EQ(Sharing(kQuantized, {}).lists(pin), (Lists{"acc: a b sum q d r"}));
  EXPECT_TRUE(Sharing(kQuantized, {"q"}).lists(pin)[0].contains("grouped with"));
  pin.pins.push_back({"QuantizeLinear_3", "host"});
  EXPECT_TRUE(Sharing(kQuantized, {}).lists(pin)[0].contains("it is pinned to 'acc', apart from node 'QuantizeLinear_3'"));
}

TEST(AtomicGroups, SizeLimitCountsTheWholeGroup) {
  Constraints constraints;
  constraints.min_block_size = 4;
  EXPECT_EQ(Sharing(kQuantized, {"r"}).lists(constraints), (Lists{"acc: a b sum q", "host: d r"}));
  constraints.min_block_size = 5;
  EXPECT_EQ(Sharing(kQuantized, {"r"}).lists(constraints), (Lists{"host: a b sum q d r"}));
}

TEST(AtomicGroups, CostAndMemoryAssignTheWholeGroup) {
  Constraints constraints;
  constraints.assign = Assign::cost;
  EXPECT_EQ(Sharing(kQuantized, {"sum"}).lists(constraints), (Lists{"host: a b sum q d r"}));  // equal costs: nothing pays
  Constraints memory;
  memory.memory = {{"acc", 40}};  // the sum needs 48 bytes
  EXPECT_EQ(Sharing(kQuantized, {}).lists(memory), (Lists{"host: a b sum q", "acc: d r"}));
}

/// What quantizes the values needs the places, which come from the same node: together they would be a circle.
TEST(AtomicGroups, InterruptedQuantizedNodesFormNoGroup) {
  Sharing sharing(R"(graph main(x: u8[4], k: i64[1]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    d = DequantizeLinear(x, scale, zero) v, i = TopK(d, k) f = Cast(i, to=1) h = Exp(f) m = ReduceMax(h, keepdims=0)
    q = QuantizeLinear(v, m, zero) r = Abs(h) return q, r })",
                  {"h"});
  EXPECT_EQ(sharing.lists(), (Lists{"host: d v", "acc: f", "host: h", "acc: m r", "host: q"}));
  EXPECT_EQ(sharing.run()->nodes[0].reasons.back().text, "nodes outside have to run between what it is grouped with");
}

/// "Op -borders, segments left (what holds it)".
Lists supposed(std::string_view text, const std::vector<std::string>& others, Constraints constraints = {}) {
  Sharing sharing(text, others);
  constraints.listed = 2;
  const auto partition = sharing.run(constraints);
  EXPECT_TRUE(partition) << partition.error().text();
  const auto rows = what_if(*sharing.graph, *partition, sharing.two.roles, constraints);
  EXPECT_TRUE(rows) << rows.error().text();
  Lists out;
  for (const WhatIf& w : *rows)
    out.push_back(fmt::format("{} -{}, {}{}", w.op, w.borders_removed, w.segments,
                              w.blocked_by.empty() ? "" : " (" + fmt::format("{}", fmt::join(w.blocked_by, " ")) + ")"));
  return out;
}

/// Were the sum accelerated, all that is grouped with it would be.
TEST(AtomicGroups, WhatIfMovesTheWholeGroup) {
  constexpr std::string_view kTwice = R"(graph main(x: u8[4], w: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    v = BitwiseNot(x) a = DequantizeLinear(v, scale, zero) b = DequantizeLinear(w, scale, zero) sum = Add(a, b)
    q = QuantizeLinear(sum, scale, zero) d = DequantizeLinear(q, scale, zero) r = Exp(d) t = QuantizeLinear(r, scale, zero) return t })";
  EXPECT_EQ(Sharing(kTwice, {"sum"}).lists(), (Lists{"acc: v", "host: a b sum q", "acc: d r t"}));
  // What it is grouped with works too, and would alone change nothing.
  EXPECT_EQ(supposed(kTwice, {"sum"}), (Lists{"Add -2, 1", "DequantizeLinear -0, 3 (Add)", "QuantizeLinear -0, 3 (Add)"}));
  EXPECT_EQ(supposed(kTwice, {"sum", "q"}),
            (Lists{"Add -0, 3 (QuantizeLinear)", "DequantizeLinear -0, 3 (Add QuantizeLinear)", "QuantizeLinear -0, 3 (Add)"}));
  Constraints forced;
  forced.fallback_ops = {"Add"};
  EXPECT_EQ(supposed(kTwice, {}, forced)[0], "Add -2, 1");
  forced.fallback_ops = {"Add", "Exp"};
  EXPECT_EQ(supposed(kTwice, {}, forced),
            (Lists{"Add -0, 2", "DequantizeLinear -0, 2 (Add Exp)", "QuantizeLinear -0, 2 (Add Exp)", "Exp --1, 3"}));
}

constexpr std::string_view kSequence = R"(graph main(x: f32[4], y: f32[4]) {
  e = Exp(x) s = SequenceConstruct(e, y) cat = ConcatFromSequence(s, axis=0) r = Neg(cat) return r })";

TEST(AtomicGroups, SequenceStaysWithinASegment) {
  EXPECT_EQ(Sharing(kSequence, {}).lists(), (Lists{"acc: e s cat r"}));
  EXPECT_EQ(Sharing(kSequence, {"cat"}).lists(), (Lists{"acc: e", "host: s cat", "acc: r"}));
  EXPECT_EQ(Sharing(kSequence, {"s"}).lists(), (Lists{"acc: e", "host: s cat", "acc: r"}));
  Sharing sharing(kSequence, {"s"});
  const auto partition = sharing.run();
  EXPECT_EQ(partition->nodes[2].reasons.back().code, "non_tensor");
}

TEST(AtomicGroups, WhatIfMovesTheWholeSequence) {
  EXPECT_EQ(supposed(kSequence, {"cat"}), (Lists{"ConcatFromSequence -2, 1", "SequenceConstruct -0, 3 (ConcatFromSequence)"}));
  EXPECT_EQ(supposed("graph main(x: f32[4]) { e = Exp(x) s = SequenceConstruct(e) return s }", {}), (Lists{"SequenceConstruct -0, 2"}));
}

TEST(AtomicGroups, SequenceAtGraphPortsFallsBack) {
  EXPECT_EQ(Sharing("graph main(x: f32[4]) { e = Exp(x) s = SequenceConstruct(e) return s }", {}).lists(), (Lists{"acc: e", "host: s"}));
  EXPECT_EQ(Sharing("graph main(s: seq(f32[4])) { cat = ConcatFromSequence(s, axis=0) r = Neg(cat) return r }", {}).lists(),
            (Lists{"host: cat", "acc: r"}));
}

/// `h` needs what the sequence holds and is put into it again.
TEST(AtomicGroups, InterruptedSequenceFallsBack) {
  EXPECT_EQ(Sharing(R"(graph main(x: f32[4], i: i64[]) {
    s = SequenceConstruct(x, x) a = SequenceAt(s, i) h = Exp(a) t = SequenceInsert(s, h) cat = ConcatFromSequence(t, axis=0) r = Neg(cat)
    return r })",
                    {"h"})
                .lists(),
            (Lists{"host: s a h t cat", "acc: r"}));
}

}  // namespace
}  // namespace tenon::partition
