// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console/console.h"
#include "rewrite/self_test/self_test.h"

namespace tenon::cli {

/// The result of the self test of a rule; a code rule has none.
struct RuleTest {
  rewrite::SelfTestResult found;
  bool is_code = false;
};

/// Tests each rule; shows its progress. The same seed gives the same tests. Cost: some tenths of a second a rule.
std::vector<RuleTest> test_rules(const std::vector<rewrite::RulePtr>& rules, const ir::OpTable& ops, uint64_t seed, Console& console);
/// The table, then each fault with the graph that shows it; with --json the same as an object. Errors: bad_rule where there is a fault.
Result<void> report_tests(const std::vector<RuleTest>& tests, uint64_t seed, Console& console);

}  // namespace tenon::cli
