// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rewrite/driver/driver.h"

namespace tenon::rewrite {

struct IsolateLimits {
  std::chrono::milliseconds stall{5000};  ///< for one attempt of one rule at one node
  int64_t memory = int64_t{4} << 30;      ///< bytes of address space beyond what the process has now
};

/// A rule that took its process down.
struct FaultyRule {
  size_t rule = 0;  ///< index in the set
  std::string name;
  std::string node;  ///< "node 'name' (Op)", where it happened
  std::string how;   ///< "crashed (signal 11: Segmentation fault)", "did not return within 5.0 s", "ran out of memory", ...
};

/// Runs the rules on the graph in a forked child, again without each rule that crashes, hangs or eats memory, until a child ends well;
/// names those rules. The graph here stays as it is. `options.applied` is not called; a check runs in the child, and its time is not
/// counted. Only for processes with one thread (a command line): the child has the calling thread alone, and locks that others held stay
/// held. Errors: those of `rewrite`; internal where a child dies outside of every rule; not_supported where the system does not fork. Cost:
/// one run more than there are faulty rules, plus `stall` for each that hangs.
Result<std::vector<FaultyRule>> find_unsafe(ir::Graph& graph, const RuleSet& rules, const Options& options,
                                            const IsolateLimits& limits = {});

/// `find_unsafe`, then `rewrite` without what it named; the reports name those rules too.
Result<Statistics> rewrite_isolated(ir::Graph& graph, const RuleSet& rules, const Options& options, const IsolateLimits& limits = {});

}  // namespace tenon::rewrite
