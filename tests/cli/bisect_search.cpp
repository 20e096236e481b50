// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/bisect_search.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tenon::cli {
namespace {

/// Judges as if `faulty` were the first bad step, and counts the questions.
struct Judge {
  int64_t faulty;
  std::set<int64_t> skipped;
  std::map<int64_t, int> asked;
  Result<Verdict> operator()(int64_t at) {
    ++asked[at];
    if (skipped.contains(at)) return Verdict::skip;
    return at >= faulty ? Verdict::bad : Verdict::good;
  }
};

TEST(Search, FindsEveryStepInAboutLog2Questions) {
  for (int64_t all : {1, 2, 3, 7, 64, 1000})
    for (int64_t faulty = 1; faulty <= all; ++faulty) {
      Judge judge{faulty, {}, {}};
      const auto found = bisect_steps(0, all, std::ref(judge));
      ASSERT_TRUE(found);
      EXPECT_EQ(found->bad, faulty);
      EXPECT_TRUE(found->exact());
      EXPECT_LE(judge.asked.size(), 10u);
      EXPECT_FALSE(judge.asked.contains(0) || judge.asked.contains(all)) << "the ends are known";
    }
}

TEST(Search, GoesAroundWhatCannotBeJudged) {
  for (int64_t faulty = 1; faulty <= 40; ++faulty)
    for (int64_t skipped = 1; skipped < 40; ++skipped) {
      Judge judge{faulty, {skipped}, {}};
      const auto found = bisect_steps(0, 40, std::ref(judge));
      ASSERT_TRUE(found);
      EXPECT_LT(found->good, faulty);
      EXPECT_GE(found->bad, faulty);
      EXPECT_EQ(found->exact(), skipped != faulty && skipped != faulty - 1);
      for (const auto& [at, times] : judge.asked) EXPECT_EQ(times, 1) << at;
    }
}

TEST(Search, EndsWhereNothingCanBeJudged) {
  Judge judge{3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {}};
  const auto found = bisect_steps(0, 10, std::ref(judge));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->good, 0);
  EXPECT_EQ(found->bad, 10);
}

TEST(Search, HandsErrorsOn) {
  const auto found = bisect_steps(0, 10, [](int64_t) -> Result<Verdict> { return fail(Code::cancelled, "", "enough"); });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace tenon::cli
