// SPDX-License-Identifier: Apache-2.0
// Graphs drawn from the ops that the rules move about, with shared values, outputs in the middle and symbolic sizes (0 too): the sets
// settle on each of them, leave it valid, and change no result by more than rounding.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "random_graphs.h"

namespace tenon::tests {
namespace {

rewrite::RuleSet set_of(const std::string& expression, rewrite::Stage last) {
  std::vector<const rewrite::Rule*> chosen;
  for (const rules::Entry& e : *rules::select(expression))
    if (e.stage <= last) chosen.push_back(e.rule);
  return *rewrite::RuleSet::make(chosen, ops::table());
}

TEST(RandomGraphs, SetsSettleAndKeepResults) {
  const rewrite::RuleSet sets[] = {set_of("default", rewrite::Stage::clean), set_of("default", rewrite::Stage::combine),
                                   set_of("tenon+default", rewrite::Stage::clean), set_of("tenon+default", rewrite::Stage::combine)};
  int compared = 0;
  std::map<std::string, int64_t> applied;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    ASSERT_TRUE(drawn.status()) << drawn.status().error().text() << ir::print(drawn.graph());
    for (const rewrite::RuleSet& set : sets) {
      const auto after = drawn.graph().clone();
      const auto stats = rewrite::rewrite(*after, set);
      ASSERT_TRUE(stats) << stats.error().text();
      ASSERT_TRUE(stats->reports.empty()) << stats->reports[0] << "\n" << ir::print(drawn.graph());
      ASSERT_LT(stats->sweeps, rewrite::Options().sweeps) << ir::print(drawn.graph());
      for (const auto& rule : stats->rules) applied[std::string(rule.name)] += rule.applied;
      const auto ok = ir::verify(*after);
      ASSERT_TRUE(ok) << ok.error().text() << "\n" << ir::print(drawn.graph()) << ir::print(*after);
      std::mt19937 random(seed);
      for (int round = 0; round < 2; ++round) {
        const auto inputs = inputs_of(drawn.graph(), random);
        const auto a = ops::evaluate(drawn.graph(), inputs);
        if (!a) continue;  // a size that was drawn need not be legal: Slice and Reshape of what is empty
        const auto b = ops::evaluate(*after, inputs);
        ASSERT_TRUE(b) << b.error().text() << "\n" << ir::print(drawn.graph()) << ir::print(*after);
        ++compared;
        for (size_t i = 0; i < a->size(); ++i) {
          expect_close((*a)[i], (*b)[i]);
          if (testing::Test::HasFatalFailure()) {
            ADD_FAILURE() << ir::print(drawn.graph()) << ir::print(*after);
            return;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 3000);
  int busy = 0;
  for (const auto& [name, count] : applied) busy += count > 0;
  EXPECT_GT(busy, 40) << "rules that were applied at all";
}

}  // namespace
}  // namespace tenon::tests
