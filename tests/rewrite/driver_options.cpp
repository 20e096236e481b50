// SPDX-License-Identifier: Apache-2.0
// Options of the driver: nodes to keep, arguments, a callback for each rewrite, other orders.
#include "helpers.h"
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

constexpr std::string_view kTwo = "graph main(x: f32[b]) {\n a = Relu(x)\n y = Neg(a)\n return y\n}\n";
constexpr Rule kReluToAbs{.name = "relu_to_abs", .docs = "", .equation = "Relu(?x) => Abs(?x)"};

TEST(DriverOptions, ProtectedNodesAndValuesStay) {
  for (const char* name : {"a", "guarded"}) {
    auto g = graph_of(kTwo);
    g->set_name(g->first(), "guarded");
    Options options;
    options.keep = {name};
    const auto stats = run(*g, {&kReluToAbs}, options);
    EXPECT_EQ(ops_of(*g), "Relu Neg") << name;
    EXPECT_FALSE(stats.changed);
  }
}

TEST(DriverOptions, MatchOverAProtectedNodeIsRefusedWithThatReason) {
  static constexpr Rule both{.name = "both", .docs = "", .equation = "Neg(Relu(?x)) => Neg(Abs(?x))"};
  auto g = graph_of(kTwo);
  Options options;
  options.keep = {"a"};
  const auto stats = run(*g, {&both}, options);
  EXPECT_EQ(stats.rules[0].refused.at("a node of the match is protected"), 1);
}

bool in_one_go(Match& m, Rewriter& w) {
  const int* wanted = m.args<int>();
  if (!wanted) return m.refuse("no arguments");
  w.replace(m.result(m.root()), w(*wanted == 1 ? "Abs" : "Exp", {m.operand(m.root(), 0)}));
  return true;
}

TEST(DriverOptions, MatchAndRewriteReadTheCallersArguments) {
  static constexpr Rule rule{.name = "one_go", .docs = "", .roots = "Relu", .match_and_rewrite = in_one_go};
  auto g = graph_of(kTwo);
  EXPECT_EQ(run(*g, {&rule}).rules[0].refused.at("no arguments"), 1);
  Options options;
  const std::any args = 2;
  options.args = &args;
  EXPECT_EQ(run(*g, {&rule}, options).rules[0].applied, 1);
  EXPECT_EQ(ops_of(*g), "Exp Neg");
}

TEST(DriverOptions, AppliedIsCalledForEachRewriteInOrder) {
  auto g = graph_of("graph main(x: f32[b]) {\n a = Relu(x)\n y = Relu(a)\n return y\n}\n");
  std::string seen;
  Options options;
  options.applied = [&](const RewriteEvent& a) { seen += a.rule.name + " " + std::to_string(a.index) + ";"; };
  run(*g, {&kReluToAbs}, options);
  EXPECT_EQ(seen, "relu_to_abs 0;relu_to_abs 1;");
}

TEST(DriverOptions, ShuffledWorklistVisitsEveryNode) {
  auto g = graph_of("graph main(x: f32[b]) {\n a = Relu(x)\n c = Relu(a)\n d = Relu(c)\n return d\n}\n");
  Options options;
  options.shuffle_seed = 5;
  EXPECT_EQ(run(*g, {&kReluToAbs}, options).rules[0].applied, 3);
}

}  // namespace
}  // namespace tenon::tests
