// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rewrite/driver/driver.h"

namespace tenon::rewrite {

/// Limits of the child process that tries rules.
struct ChildLimits {
  std::chrono::milliseconds attempt_timeout{5000};  ///< of one rule at one node; what takes longer counts as hung
  int64_t extra_memory = int64_t{4} << 30;          ///< bytes of address space beyond what the process has now
};

/// A rule that crashed, hung or ran out of memory in the child process.
struct FaultyRule {
  size_t rule = 0;  ///< index in the set
  std::string name;
  std::string node;     ///< "node 'name' (Op)": at which node it was tried
  std::string failure;  ///< "crashed (signal 11: Segmentation fault)", "did not return within 5.0 s", "ran out of memory", ...
};

/// Runs the rules on the graph in a forked child process. Where a rule crashes, hangs or runs out of memory, runs again without it, until a
/// child ends normally. Returns those rules. The graph of this process stays as it is. `options.applied` is not called; a check runs in the
/// child, and its time is not counted. Only for processes with one thread (a command line): the child process has only the calling
/// thread, and locks that other threads held stay locked in it. Errors: those of `rewrite`; internal where a child dies outside of every
/// rule; not_supported where the system does not fork. Cost: one run more than there are faulty rules, plus `attempt_timeout` for each that
/// hangs.
Result<std::vector<FaultyRule>> find_faulty_rules(ir::Graph& graph, const RuleSet& rules, const Options& options,
                                                  const ChildLimits& limits = {});

/// `find_faulty_rules`, then `rewrite` without the rules that it returned; the reports name those rules too.
Result<Statistics> rewrite_without_faulty_rules(ir::Graph& graph, const RuleSet& rules, const Options& options,
                                                const ChildLimits& limits = {});

}  // namespace tenon::rewrite
