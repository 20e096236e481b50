// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "cli/compare/oracle.h"

namespace tenon::cli {

/// The result of a search: `good` steps are good, `bad` steps are bad, and numbers between have no verdict.
struct BisectResult {
  int64_t good = 0, bad = 0;
  bool exact() const { return bad == good + 1; }
};

/// Binary search between a good and a bad number of steps, until they are neighbours or nothing between has a verdict. Around a skipped
/// step the nearest others are checked first. `judge` is called for a number of steps at most once. Errors: those of judge. Cost: about
/// log2(bad - good) calls of `judge`, and one for each skipped step.
Result<BisectResult> bisect_steps(int64_t good, int64_t bad, const std::function<Result<Verdict>(int64_t)>& judge);

}  // namespace tenon::cli
