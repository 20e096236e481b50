// SPDX-License-Identifier: Apache-2.0
// The order in which rewrites happen. Rules of `canonical` give one graph in whatever order they meet it; other sets may give different
// graphs, and all of them compute the same.
#include <gtest/gtest.h>

#include "canonical.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/reference/evaluate.h"
#include "random_graphs.h"

namespace tenon::tests {
namespace {

rewrite::RuleSet set_of(const std::string& expression) {
  std::vector<const rewrite::Rule*> chosen;
  for (const rules::Entry& e : *rules::select(expression)) chosen.push_back(e.rule);
  return *rewrite::RuleSet::make(chosen, ops::table());
}

std::unique_ptr<ir::Graph> rewritten(const ir::Graph& graph, const rewrite::RuleSet& set, uint64_t seed) {
  auto after = graph.clone();
  rewrite::Options options;
  options.shuffle_seed = seed;
  const auto stats = rewrite::rewrite(*after, set, options);
  EXPECT_TRUE(stats && stats->reports.empty()) << (stats ? stats->reports[0] : stats.error().text());
  const auto ok = ir::verify(*after);
  EXPECT_TRUE(ok) << ok.error().text() << "\n" << ir::print(*after);
  return after;
}

/// 1 where the set did something.
int expect_one_result(const ir::Graph& graph, const rewrite::RuleSet& set, uint64_t seeds) {
  const auto first = rewritten(graph, set, 0);
  const std::string wanted = Canonical(*first).text();
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto other = rewritten(graph, set, seed);
    EXPECT_EQ(wanted, Canonical(*other).text()) << "order " << seed << "\n" << ir::print(graph) << ir::print(*first) << ir::print(*other);
  }
  return wanted != Canonical(graph).text();
}

std::vector<std::unique_ptr<ir::Graph>> graphs_of_cases() {
  std::vector<std::unique_ptr<ir::Graph>> out;
  for (const Case& c : all_cases(TENON_TEST_DATA)) {
    auto graph = ir::parse(c.in, ops::table());
    EXPECT_TRUE(graph) << c.name;
    if (graph) out.push_back(std::move(*graph));
  }
  return out;
}

TEST(Confluence, CanonicalGivesOneGraphForEachCase) {
  const auto set = set_of("canonical");
  ASSERT_GT(set.size(), 20u);
  int busy = 0;
  for (const auto& graph : graphs_of_cases()) {
    busy += expect_one_result(*graph, set, 4);
    if (HasFailure()) return;
  }
  EXPECT_GT(busy, 60) << "graphs that were changed at all";
}

TEST(Confluence, CanonicalGivesOneGraphForEachRandomGraph) {
  const auto set = set_of("canonical");
  int busy = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    busy += expect_one_result(drawn.graph(), set, 4);
    if (HasFailure()) return;
  }
  EXPECT_GT(busy, 200) << "graphs that were changed at all";
}

/// A drawn number may be a size.
const ops::EvaluateOptions kSmall = {.byte_limit = int64_t{1} << 26, .on_value = {}};

bool is_random(const ir::Graph& graph) {
  for (ir::NodeId node : graph.nodes())
    if (!graph.node(node).op->deterministic) return true;
  return false;
}

/// How many orders were compared; 0 where the graph has no answer on the inputs: what was drawn need not be legal.
int expect_same_results(const ir::Graph& graph, std::span<const rewrite::RuleSet> sets, const std::vector<Tensor>& inputs,
                        uint64_t orders) {
  const auto a = ops::evaluate(graph, inputs, kSmall);
  if (!a) return 0;
  int compared = 0;
  for (const rewrite::RuleSet& set : sets) {
    for (uint64_t order = 1; order <= orders; ++order, ++compared) {
      const auto after = rewritten(graph, set, order);
      const auto b = ops::evaluate(*after, inputs, kSmall);
      EXPECT_TRUE(b) << b.error().text() << ir::print(graph) << ir::print(*after);
      for (size_t i = 0; b && i < a->size(); ++i) expect_close((*a)[i], (*b)[i]);
      EXPECT_FALSE(testing::Test::HasFailure()) << "order " << order << "\n" << ir::print(graph) << ir::print(*after);
    }
  }
  return compared;
}

TEST(Confluence, OtherSetsComputeTheSameForRandomGraphsInAnyOrder) {
  const rewrite::RuleSet sets[] = {set_of("default"), set_of("tenon")};
  int compared = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    std::mt19937 random(seed);
    compared += expect_same_results(drawn.graph(), sets, inputs_of(drawn.graph(), random), 3);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 400);
}

TEST(Confluence, OtherSetsComputeTheSameForCasesInAnyOrder) {
  const rewrite::RuleSet sets[] = {set_of("default"), set_of("tenon")};
  int compared = 0;
  for (const auto& graph : graphs_of_cases()) {
    if (is_random(*graph)) continue;
    std::mt19937 random(11);
    compared += expect_same_results(*graph, sets, draw_inputs(*graph, random), 2);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace tenon::tests
