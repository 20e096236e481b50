// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rewrite/compile/compiled_rule.h"

namespace tenon::rewrite {

/// What the tests that follow from an equation itself have found.
struct SelfTest {
  std::string rule;
  int instances = 0;                   ///< different graphs that match, rewritten and compared by reference; 0: none was found
  int mutants = 0;                     ///< graphs with one fault that the rule leaves alone
  std::map<std::string, int> refused;  ///< the same by kind of fault
  int attempts = 0;                    ///< graphs that were tried in the search for instances
  int harmless = 0;                    ///< mutants that match all the same, and are rewritten to what they compute
  std::string example;                 ///< the first instance, in text form
  std::vector<std::string> faults;     ///< what is wrong, with the graph that shows it
};

struct SelfTestOptions {
  uint64_t seed = 1;
  int attempts = 20000;  ///< graphs tried in the search for instances
  int instances = 8;
};

/// Makes up graphs on which the equation matches (by search over element types, shapes, constants and attributes), rewrites them and
/// runs both sides by reference on drawn inputs, as verification does; then puts one fault into the first of them (see Fault), and expects
/// the rule to refuse it or to be right all the same. An op of another domain it must refuse, and a user outside unless it is `shared`.
/// Code rules have no such tests: instances is 0. The same seed gives the same tests. Cost: some tenths of a second, mostly.
SelfTest self_test(const CompiledRule& rule, const ir::OpTable& ops, const SelfTestOptions& options = {});

}  // namespace tenon::rewrite
