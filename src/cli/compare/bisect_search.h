// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "cli/compare/oracle.h"

namespace tenon::cli {

/// What a search has found: `good` steps are good, `bad` steps are bad, and what is between could not be judged.
struct BisectResult {
  int64_t good = 0, bad = 0;
  bool exact() const { return bad == good + 1; }
};

/// Halves good .. bad (known to be so) until one step is left, or nothing between can be judged: then the neighbours of a skipped step are
/// checked, nearest first. `judge` is called for a number of steps at most once.
/// Errors: those of judge. Cost: about log2(bad - good) questions, and one a skipped step.
Result<BisectResult> bisect_steps(int64_t good, int64_t bad, const std::function<Result<Verdict>(int64_t)>& judge);

}  // namespace tenon::cli
