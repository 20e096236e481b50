// SPDX-License-Identifier: Apache-2.0
// Rules that take the process down with them, run in a child.
#include "rewrite/driver/isolate.h"

#include <csignal>
#include <cstdlib>
#include <list>
#include <set>

#include "helpers.h"
#include "rewrite/rewriter.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

bool always(Match&) { return true; }
bool reads_null(Match& m) {
  const volatile int* none = nullptr;
  return *none > 0 && m.refuse("never said");
}
bool loops(Match&) {
  for (volatile int i = 0;; i = i + 1) {}
}
bool aborts(const Match&, Rewriter&) { std::abort(); }
bool leaves(const Match&, Rewriter&) { std::_Exit(0); }
bool eats(const Match&, Rewriter&) {
  std::list<std::vector<char>> eaten;
  for (;;) eaten.emplace_back(64 << 20);
}
bool asserts(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), m.graph().node(ir::NodeId(1000, 1)).outputs[0]);
  return true;
}

constexpr Rule kReadsNull{.name = "reads_null", .docs = "", .roots = "Relu", .match = reads_null, .rewrite = leaves, .benefit = 9};
constexpr Rule kLoops{.name = "loops", .docs = "", .roots = "Relu", .match = loops, .rewrite = leaves, .benefit = 9};
constexpr Rule kAborts{.name = "aborts", .docs = "", .roots = "Relu", .match = always, .rewrite = aborts, .benefit = 9};
constexpr Rule kLeaves{.name = "leaves", .docs = "", .roots = "Relu", .match = always, .rewrite = leaves, .benefit = 9};
constexpr Rule kEats{.name = "eats", .docs = "", .roots = "Relu", .match = always, .rewrite = eats, .benefit = 9};
constexpr Rule kAsserts{.name = "asserts", .docs = "", .roots = "Relu", .match = always, .rewrite = asserts, .benefit = 9};
constexpr Rule kReluToAbs{.name = "relu_to_abs", .docs = "", .equation = "Relu(?x) => Abs(?x)"};
constexpr std::string_view kRelu = "graph main(x: f32[b]) {\n a = Neg(x)\n y = Relu(a)\n return y\n}\n";

Result<Statistics> isolated(ir::Graph& graph, std::initializer_list<const Rule*> rules, Options options = {}, int stall_ms = 2000) {
  const auto set = RuleSet::make(std::vector<const Rule*>(rules), ops::table());
  if (!set) ADD_FAILURE() << set.error().text();
  return rewrite_without_faulty_rules(graph, *set, options,
                                      {.attempt_timeout = std::chrono::milliseconds(stall_ms), .extra_memory = int64_t{256} << 20});
}

struct Culprit {
  const Rule* rule;
  std::string_view how;
};

class Isolated : public testing::TestWithParam<Culprit> {};

TEST_P(Isolated, FaultyRuleIsNamedAndDisabledAndOthersContinue) {
  auto g = graph_of(kRelu);
  const int stall_ms = GetParam().rule == &kLoops ? 2000 : 60'000;  // a busy machine takes its time to fill memory
  const auto stats = isolated(*g, {GetParam().rule, &kReluToAbs}, {}, stall_ms);
  ASSERT_TRUE(stats) << stats.error().text();
  ASSERT_EQ(stats->reports.size(), 1u);
  EXPECT_TRUE(stats->reports[0].starts_with("rule " + std::string(GetParam().rule->name) + " was left out: it ")) << stats->reports[0];
  EXPECT_NE(stats->reports[0].find(GetParam().how), std::string::npos) << stats->reports[0];
  EXPECT_NE(stats->reports[0].find("(Relu)"), std::string::npos) << stats->reports[0];
  EXPECT_TRUE(stats->rules[0].left_out);
  EXPECT_EQ(ops_of(*g), "Neg Abs");
  EXPECT_TRUE(ir::verify(*g));
}
INSTANTIATE_TEST_SUITE_P(Rules, Isolated,
                         testing::Values(Culprit{&kReadsNull, "crashed"}, Culprit{&kLoops, "did not return within 2.0 s"},
                                         Culprit{&kAborts, "crashed"}, Culprit{&kLeaves, "ended the process (exit code 0)"},
                                         Culprit{&kEats, "ran out of memory"}, Culprit{&kAsserts, ""}),
                         [](const auto& info) { return std::string(info.param.rule->name); });

TEST(Isolate, NamesEveryFaultyRule) {
  for (const Order order : {Order::worklist, Order::sweep}) {
    auto g = graph_of(kRelu);
    const auto set = RuleSet::make(std::vector<const Rule*>{&kAborts, &kReadsNull, &kReluToAbs}, ops::table());
    Options options;
    options.order = order;
    const auto faulty = find_faulty_rules(*g, *set, options);
    ASSERT_TRUE(faulty) << faulty.error().text();
    ASSERT_EQ(faulty->size(), 2u);
    EXPECT_EQ((std::set{(*faulty)[0].name, (*faulty)[1].name}), (std::set<std::string>{"aborts", "reads_null"}));
    EXPECT_EQ(ops_of(*g), "Neg Relu") << "the graph of the parent stays as it is";
  }
}

TEST(Isolate, FindsAFaultyRuleInsideABody) {
  auto g = graph_of(
      "graph main(c: bool[], x: f32[4]) {\n  y = If(c) then_branch={ graph(h: f32[4]) { d = Relu(h)\n return d } } captures=[x]"
      " else_branch={ graph(h: f32[4]) { d = Abs(h)\n return d } } captures=[x]\n  return y\n}\n");
  const auto stats = isolated(*g, {&kAborts});
  ASSERT_TRUE(stats) << stats.error().text();
  ASSERT_EQ(stats->reports.size(), 1u);
  EXPECT_NE(stats->reports[0].find("(Relu)"), std::string::npos);
}

TEST(Isolate, WithoutFaultyRulesEqualsRewrite) {
  auto a = graph_of(kRelu), b = graph_of(kRelu);
  const auto stats = isolated(*a, {&kReluToAbs});
  ASSERT_TRUE(stats) << stats.error().text();
  run(*b, {&kReluToAbs});
  EXPECT_EQ(ir::print(*a), ir::print(*b));
  EXPECT_TRUE(stats->reports.empty());
}

TEST(Isolate, LongCheckIsNotBlamedOnARule) {
  auto g = graph_of(kRelu);
  Options options;
  options.check = [](const Proposal&) -> Result<void> {
    usleep(600'000);
    return {};
  };
  const auto stats = isolated(*g, {&kReluToAbs}, options, 300);
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_TRUE(stats->reports.empty()) << stats->reports[0];
  EXPECT_EQ(ops_of(*g), "Neg Abs");
}

TEST(Isolate, CanBeCancelledWhileARuleHangs) {
  auto g = graph_of(kRelu);
  Options options;
  int asked = 0;
  options.cancelled = [&asked] { return ++asked > 3; };
  const auto stats = isolated(*g, {&kLoops}, options);
  ASSERT_FALSE(stats);
  EXPECT_EQ(stats.error().code(), Code::cancelled);
  EXPECT_EQ(ops_of(*g), "Neg Relu");
}

TEST(Driver, LeavesOutRulesByName) {
  auto g = graph_of(kRelu);
  Options options;
  options.without = {"relu_to_abs"};
  EXPECT_TRUE(run(*g, {&kReluToAbs}, options).rules[0].left_out);
  EXPECT_EQ(ops_of(*g), "Neg Relu");
}

}  // namespace
}  // namespace tenon::tests
