// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rewrite/compile/compiled_rule.h"

namespace tenon::rewrite {

/// The result of self_test.
struct SelfTestResult {
  std::string rule;
  int instances = 0;                   ///< different graphs that match, rewritten and compared by reference; 0: none was found
  int mutants = 0;                     ///< graphs with one mutation that the rule does not rewrite
  std::map<std::string, int> refused;  ///< `mutants` by kind of mutation
  int attempts = 0;                    ///< graphs that were tried in the search for instances
  int equivalent_mutants = 0;          ///< mutants that the rule matches and rewrites to an equal graph
  std::string example;                 ///< the first instance, in text form
  std::vector<std::string> faults;     ///< failures: what is wrong, with the graph that shows it
};

/// Limits of a self test.
struct SelfTestOptions {
  uint64_t seed = 1;
  int attempts = 20000;  ///< graphs tried in the search for instances
  int instances = 8;
};

/// Tests a rule with graphs that are generated from its equation. First graphs on which it matches (by search over element types, shapes,
/// constants and attributes): they are rewritten, and both sides run by reference on random inputs, as verification does. Then mutants of
/// the first of them, with one mutation each: the rule must refuse them or be right for them too. It must refuse an op of another domain,
/// and users outside unless it sets `allow_outside_uses`. Code rules have no equation: `instances` is 0. The same seed gives the same
/// tests. Cost: some tenths of a second, mostly.
SelfTestResult self_test(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options = {});

}  // namespace tenon::rewrite
