// SPDX-License-Identifier: Apache-2.0
// Rules that are wrong on purpose, each in one way that reviews miss, and what verification makes of them.
#include "rewrite/verify/verification.h"

#include <gtest/gtest.h>

#include "helpers.h"
#include "rewrite/rewriter.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

struct Verified {
  std::unique_ptr<ir::Graph> graph;
  Statistics stats;
  Verification result;
};

Verified verified(std::string_view text, std::initializer_list<const Rule*> rules, Verify mode = Verify::all) {
  Verified out{graph_of(text), {}, {}};
  Verifier verifier(mode);
  Options options;
  options.allowed = Numerics::approximate;
  options.check = std::ref(verifier);
  out.stats = run(*out.graph, rules, options);
  out.result = verifier.result();
  return out;
}

struct WrongRule {
  std::string_view what;
  Rule rule;
  std::string_view graph;
};

bool always(Match&) { return true; }
bool softmax_of_the_first_axis(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Softmax", {m.operand(m.root(), 0)}, {{"axis", int64_t{0}}}));
  return true;
}
bool slice_one_short(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Slice", {m.operand(m.root(), 0), w.ints({0}), w.ints({2}), w.ints({1})}));
  return true;
}
/// The same number where it is even.
bool halve_and_double(const Match& m, Rewriter& w) {
  const ValueId half = w("Div", {m.operand(m.root(), 0), w.ints({2})});
  w.replace(m.result(m.root()), w("Mul", {half, w.ints({2})}));
  return true;
}
/// The same number unless it is 0.
bool at_least_one(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w("Max", {m.operand(m.root(), 0), w.ints({1})}));
  return true;
}

constexpr std::string_view kAbs = "graph main(x: f32[b,4]) {\n y = Abs(x)\n return y\n}\n";
constexpr std::string_view kSize = "graph main(x: f32[b]) {\n s = Shape(x)\n y = Identity(s)\n return y\n}\n";
constexpr auto kReassociating = Numerics::reassociating;

const WrongRule kWrong[] = {
    {"another_axis",
     {.name = "bad", .docs = "", .roots = "Softmax", .match = always, .rewrite = softmax_of_the_first_axis, .numerics = kReassociating},
     "graph main(x: f32[b,4]) {\n y = Softmax(x, axis=1)\n return y\n}\n"},
    {"another_constant",
     {.name = "bad", .docs = "", .equation = "Mul(?x, 0.7071067) => Mul(?x, 0.7070)", .numerics = kReassociating},
     "graph main(x: f32[b,4]) {\n const c: f32[] = [0.7071067]\n y = Mul(x, c)\n return y\n}\n"},
    {"forgets_to_broadcast",
     {.name = "bad", .docs = "", .equation = "Mul(?x, 1) => ?x"},
     "graph main(x: f32[b]) {\n const ones: f32[4] = [1, 1, 1, 1]\n y = Mul(x, ones)\n return y\n}\n"},
    {"loses_NaN",
     {.name = "bad", .docs = "", .equation = "Where(Equal(?x, ?x), ?x, ?y) => ?x"},
     "graph main(x: f32[b], z: f32[b]) {\n e = Equal(x, x)\n y = Where(e, x, z)\n return y\n}\n"},
    {"loses_NaN_though_it_may_round",
     {.name = "bad", .docs = "", .equation = "Add(Sub(?x, ?x), ?y) => ?y", .numerics = kReassociating},
     "graph main(x: f32[b], z: f32[b]) {\n d = Sub(x, x)\n y = Add(d, z)\n return y\n}\n"},
    {"loses_infinity_though_it_may_be_off",
     {.name = "bad", .docs = "", .equation = "Abs(?x) => Min(Abs(?x), 1e30)", .numerics = Numerics::approximate},
     kAbs},
    {"answers_for_masked_rows",
     {.name = "bad", .docs = "", .equation = "Softmax(?x, axis=-1) => Softmax(Max(?x, -1e30), axis=-1)", .numerics = kReassociating},
     "graph main(x: f32[b,4]) {\n y = Softmax(x, axis=-1)\n return y\n}\n"},
    {"loses_the_sign_of_zero",
     {.name = "bad", .docs = "", .equation = "Add(?x, 0) => ?x"},
     "graph main(x: f32[b]) {\n const c: f32[] = [0]\n y = Add(x, c)\n return y\n}\n"},
    {"integer_division_rounds",
     {.name = "bad", .docs = "", .equation = "Mul(Div(?x, 2), 2) => ?x"},
     "graph main(x: i64[b]) {\n const c: i64[] = [2]\n h = Div(x, c)\n y = Mul(h, c)\n return y\n}\n"},
    {"integers_wrap",
     {.name = "bad", .docs = "", .equation = "Greater(Add(?x, 1), ?x) => Equal(?x, ?x)"},
     "graph main(x: i8[b]) {\n const c: i8[] = [1]\n a = Add(x, c)\n y = Greater(a, x)\n return y\n}\n"},
    {"only_for_size_0", {.name = "bad", .docs = "", .roots = "Identity", .match = always, .rewrite = at_least_one}, kSize},
    {"only_for_size_1",
     {.name = "bad", .docs = "", .equation = "Shape(Add(?x, ?y)) => Shape(?x)"},
     "graph main(x: f32[b,4], z: f32[c,4]) {\n a = Add(x, z)\n y = Shape(a)\n return y\n}\n"},
    {"only_for_odd_sizes", {.name = "bad", .docs = "", .roots = "Identity", .match = always, .rewrite = halve_and_double}, kSize},
    {"a_slice_one_short",
     {.name = "bad", .docs = "", .roots = "Slice", .match = always, .rewrite = slice_one_short},
     "graph main(x: f32[4,b]) {\n const a: i64[1] = [0]\n const e: i64[1] = [3]\n const k: i64[1] = [1]\n y = Slice(x, a, e, k)\n"
     " return y\n}\n"},
    {"epsilon_is_0_in_f16",
     {.name = "bad",
      .docs = "",
      .equation = "Cast(Div(?x, Add(Abs(?x), 1e-8)), to=10) => Div(Cast(?x, to=10), Add(Abs(Cast(?x, to=10)), 1e-8))",
      .numerics = kReassociating},
     "graph main(x: f32[b]) {\n const e: f32[] = [1e-8]\n a = Abs(x)\n d = Add(a, e)\n q = Div(x, d)\n y = Cast(q, to=10)\n return y\n}\n"},
    {"overflows", {.name = "bad", .docs = "", .equation = "Abs(?x) => Sqrt(Mul(?x, ?x))", .numerics = kReassociating}, kAbs},
    {"wrong_by_little", {.name = "bad", .docs = "", .equation = "Abs(?x) => Mul(Abs(?x), 1.0001)", .numerics = kReassociating}, kAbs},
    {"no_approximation", {.name = "bad", .docs = "", .equation = "Abs(?x) => Mul(Abs(?x), 1.2)", .numerics = Numerics::approximate}, kAbs},
    {"rounds_though_exact",
     {.name = "bad", .docs = "", .equation = "Div(?x, 3) => Mul(?x, 0.33333334)"},
     "graph main(x: f32[b]) {\n const c: f32[] = [3]\n y = Div(x, c)\n return y\n}\n"},
    {"operands_change_places",
     {.name = "bad", .docs = "", .equation = "Sub(?x, ?y) => Sub(?y, ?x)"},
     "graph main(x: f32[b,4], z: f32[b,4]) {\n y = Sub(x, z)\n return y\n}\n"},
    {"forgets_an_operand",
     {.name = "bad", .docs = "", .equation = "Relu(?x) => Abs(?x)"},
     "graph main(x: f32[*]) {\n y = Relu(x)\n return y\n}\n"},
};

class Wrong : public testing::TestWithParam<WrongRule> {};

TEST_P(Wrong, IsFoundUndoneNamedAndLeftOut) {
  const auto without = verified(GetParam().graph, {});
  const auto with = verified(GetParam().graph, {&GetParam().rule});
  EXPECT_EQ(ir::print(*with.graph), ir::print(*without.graph));
  EXPECT_EQ(with.result.wrong, 1) << text_of(with.result);
  ASSERT_EQ(with.stats.reports.size(), 1u);
  EXPECT_TRUE(with.stats.reports[0].starts_with("rule bad was undone and left out: ")) << with.stats.reports[0];
  EXPECT_NE(with.stats.reports[0].find("it changes the result"), std::string::npos) << with.stats.reports[0];
  EXPECT_TRUE(with.stats.rules[0].left_out);
}
INSTANTIATE_TEST_SUITE_P(Rules, Wrong, testing::ValuesIn(kWrong), [](const auto& info) { return std::string(info.param.what); });

/// In f16 the product is infinite for most numbers and the quotient with it; x alone is not, and that is no fault.
TEST(Verification, ForgivesWhatOnlyTheRangeOfADtypeMakes) {
  static constexpr Rule kFine{.name = "fine", .docs = "", .equation = "Div(Mul(?x, 60000), 60000) => ?x", .numerics = kReassociating};
  const auto with =
      verified("graph main(x: f16[b]) {\n const c: f16[] = [60000]\n m = Mul(x, c)\n y = Div(m, c)\n return y\n}\n", {&kFine});
  EXPECT_EQ(with.result.wrong, 0) << text_of(with.result);
  EXPECT_EQ(with.result.verified, 1);
}

TEST(Verification, TheRestOfTheSetGoesOn) {
  static constexpr Rule kBad{.name = "bad", .docs = "", .equation = "Relu(?x) => Abs(?x)", .benefit = 9};
  static constexpr Rule kNegNeg{.name = "neg_neg", .docs = "", .equation = "Neg(Neg(?x)) => ?x"};
  const auto with =
      verified("graph main(x: f32[b]) {\n a = Relu(x)\n n = Neg(a)\n m = Neg(n)\n y = Relu(m)\n return y\n}\n", {&kBad, &kNegNeg});
  EXPECT_EQ(ops_of(*with.graph), "Relu Relu");
  EXPECT_EQ(with.result.wrong, 1);
  EXPECT_EQ(with.result.verified, 1);
}

TEST(Verification, ShowsTheCounterexample) {
  static constexpr Rule kBad{.name = "bad", .docs = "", .equation = "Mul(Div(?x, 2), 2) => ?x"};
  const auto with = verified("graph main(x: i64[]) {\n const c: i64[] = [2]\n h = Div(x, c)\n y = Mul(h, c)\n return y\n}\n", {&kBad});
  ASSERT_EQ(with.stats.reports.size(), 1u);
  const std::string& report = with.stats.reports[0];
  EXPECT_NE(report.find("output 0, element []"), std::string::npos) << report;
  EXPECT_NE(report.find("x: i64[] = ["), std::string::npos) << report;
  EXPECT_NE(report.find("expected: "), std::string::npos) << report;
  EXPECT_NE(report.find("found: "), std::string::npos) << report;
}

constexpr Rule kReluOfAbs{
    .name = "relu_of_abs",
    .docs = "",
    .roots = "Relu",
    .match = [](Match& m) { return bool(m.producer(m.operand(m.root(), 0), "Abs")); },
    .rewrite = [](const Match& m, Rewriter& w) { return w.replace(m.result(m.root()), m.operand(m.root(), 0)), true; }};

TEST(Verification, ARuleMayReadNodesOutsideOfItsMatch) {
  const auto with = verified("graph main(x: f32[b]) {\n a = Abs(x)\n y = Relu(a)\n return y, a\n}\n", {&kReluOfAbs});
  EXPECT_EQ(ops_of(*with.graph), "Abs");
  EXPECT_EQ(with.result.verified, 1);
}

TEST(Verification, InputsThatFollowFromOneAnotherStayTogether) {
  static constexpr Rule kRule{.name = "skip_one",
                              .docs = "",
                              .roots = "Neg",
                              .match = [](Match& m) { return bool(m.producer(m.operand(m.root(), 0), "Neg")); },
                              .rewrite =
                                  [](const Match& m, Rewriter& w) {
                                    w.replace(m.result(m.root()), m.operand(m.producer(m.operand(m.root(), 0)), 0));
                                    return true;
                                  }};
  const auto with = verified("graph main(x: f32[b]) {\n a = Neg(x)\n y = Neg(a)\n return y, a\n}\n", {&kRule});
  EXPECT_EQ(ops_of(*with.graph), "Neg");
  EXPECT_EQ(with.result.verified, 1);
}

TEST(Verification, TargetsOfReshapesFollowFromTheSizes) {
  static constexpr Rule kRule{.name = "reshape_twice",
                              .docs = "",
                              .equation = "Reshape(Reshape(?x, ?s, allowzero=1), ?t, allowzero=1) => Reshape(?x, ?t, allowzero=1)"};
  const auto known = verified(
      "graph main(x: f32[b,s], z: f32[s,b]) {\n const f: i64[1] = [-1]\n t = Shape(z)\n a = Reshape(x, f)\n"
      " r = Reshape(a, t, allowzero=1)\n y = Reshape(r, t, allowzero=1)\n return y\n}\n",
      {&kRule});
  EXPECT_EQ(known.result.verified, 1) << text_of(known.result);
  // The elements of t are not known before the run: what makes it is part of the subgraph.
  const auto unknown = verified(
      "graph main(x: f32[*]) {\n t = Shape(x)\n const f: i64[1] = [-1]\n a = Reshape(x, f, allowzero=1)\n"
      " y = Reshape(a, t, allowzero=1)\n return y\n}\n",
      {&kRule});
  EXPECT_EQ(unknown.result.verified, 1) << text_of(unknown.result);
}

TEST(Verification, IndicesAreDrawnSmall) {
  static constexpr Rule kRule{.name = "gather_neg", .docs = "", .equation = "Neg(Gather(?x, ?i, axis=0)) => Gather(Neg(?x), ?i, axis=0)"};
  const auto with = verified("graph main(x: f32[v,4], i: i64[b]) {\n g = Gather(x, i)\n y = Neg(g)\n return y\n}\n", {&kRule});
  EXPECT_EQ(with.result.verified, 1) << text_of(with.result);
  EXPECT_GE(with.result.instances, 5);
}

constexpr std::string_view kTwice =
    "graph main(x: f32[b], z: f32[c], w: f32[b,1]) {\n a = Neg(x)\n b = Neg(a)\n c = Neg(z)\n d = Neg(c)\n e = Neg(w)\n f = Neg(e)\n"
    " g = Abs(b)\n h = Abs(d)\n i = Abs(f)\n return g, h, i\n}\n";
constexpr Rule kNegNeg{.name = "neg_neg", .docs = "", .equation = "Neg(Neg(?x)) => ?x"};

TEST(Verification, FirstVerifiesOnceARuleAndSignature) {
  const auto first = verified(kTwice, {&kNegNeg}, Verify::first);
  EXPECT_EQ(first.result.rewrites, 3);
  EXPECT_EQ(first.result.verified, 2);
  EXPECT_EQ(first.result.known, 1);
  const auto all = verified(kTwice, {&kNegNeg}, Verify::all);
  EXPECT_EQ(all.result.verified, 3);
  EXPECT_EQ(verified(kTwice, {&kNegNeg}, Verify::off).result.rewrites, 0);
}

TEST(Verification, ReportsWhatCouldNotBeVerified) {
  static constexpr Rule kRule{.name = "neg_of_noise", .docs = "", .equation = "Neg(Neg(RandomNormalLike(?x))) => RandomNormalLike(?x)"};
  const auto with = verified("graph main(x: f32[b]) {\n r = RandomNormalLike(x)\n a = Neg(r)\n y = Neg(a)\n return y\n}\n", {&kRule});
  EXPECT_EQ(ops_of(*with.graph), "RandomNormalLike");
  EXPECT_EQ(with.result.verified, 0);
  ASSERT_TRUE(with.result.unverified.contains("neg_of_noise"));
  EXPECT_EQ(with.result.unverified.at("neg_of_noise").at("RandomNormalLike is random or has effects"), 1);
  EXPECT_NE(text_of(with.result).find("1 could not be verified"), std::string::npos);
}

TEST(Verification, WorksInsideBodies) {
  static constexpr Rule kBad{.name = "bad", .docs = "", .equation = "Relu(?x) => Abs(?x)"};
  const auto with = verified(
      "graph main(c: bool[], x: f32[4]) {\n  y = If(c) then_branch={ graph(h: f32[4]) { a = Neg(h)\n b = Neg(a)\n d = Relu(b)\n return d } }"
      " captures=[x] else_branch={ graph(h: f32[4]) { d = Abs(h)\n return d } } captures=[x]\n  return y\n}\n",
      {&kBad, &kNegNeg});
  EXPECT_EQ(with.result.wrong, 1);
  EXPECT_EQ(with.result.verified, 1);
}

TEST(Verification, RegionsMayHoldBodies) {
  static constexpr Rule kRule{
      .name = "abs_of_if",
      .docs = "",
      .roots = "Abs",
      .match = [](Match& m) { return m.take(m.operand(m.root(), 0), "If") && m.producer(m.operand(m.root(), 0), "If"); },
      .rewrite =
          [](const Match& m, Rewriter& w) {
            const ValueId inner = m.operand(m.root(), 0);
            w.replace(m.result(m.root()), w("Relu", {inner}));
            return true;
          }};
  const auto with = verified(
      "graph main(c: bool[], x: f32[b]) {\n  r = If(c) then_branch={ graph(h: f32[b]) { d = Abs(h)\n return d } } captures=[x]"
      " else_branch={ graph(h: f32[b]) { d = Neg(h)\n return d } } captures=[x]\n  y = Abs(r)\n  return y\n}\n",
      {&kRule});
  EXPECT_EQ(with.result.wrong, 1) << text_of(with.result);
}

}  // namespace
}  // namespace tenon::tests
