// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/bisect_search.h"

#include <set>

namespace tenon::cli {
namespace {

/// Strictly between the two, nearest to the middle, not skipped; 0 where there is none.
int64_t next_question(int64_t good, int64_t bad, const std::set<int64_t>& skipped) {
  const int64_t middle = good + (bad - good) / 2;
  for (int64_t away = 0; away <= bad - good; ++away)
    for (const int64_t at : {middle - away, middle + away})
      if (at > good && at < bad && !skipped.contains(at)) return at;
  return 0;
}

}  // namespace

Result<BisectResult> bisect_steps(int64_t good, int64_t bad, const std::function<Result<Verdict>(int64_t)>& judge) {
  std::set<int64_t> skipped;
  while (const int64_t at = next_question(good, bad, skipped)) {
    const Verdict verdict = TRY(judge(at));
    if (verdict == Verdict::good) good = at;
    else if (verdict == Verdict::bad) bad = at;
    else skipped.insert(at);
  }
  return BisectResult{good, bad};
}

}  // namespace tenon::cli
