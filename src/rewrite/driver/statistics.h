// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::rewrite {

/// Counts of one rule in one run (summed over bodies).
struct RuleStatistics {
  std::string name;
  std::string sets;   ///< separated by blanks
  int64_t tried = 0;  ///< nodes at which the rule was tried
  int64_t matches = 0;
  int64_t applied = 0;
  int64_t added = 0;                                    ///< nodes inserted
  int64_t removed = 0;                                  ///< nodes that became dead and were erased
  std::map<std::string, int64_t, std::less<>> refused;  ///< matches that were not applied, by reason
  double ms = 0;                                        ///< measured only where Options::timing is set
  bool left_out = false;                                ///< it was disabled: it reached a limit, or broke a promise that every rule gives
};

/// Counts of one run over a graph.
struct Statistics {
  std::vector<RuleStatistics> rules;  ///< one a rule, in the order of the set
  int64_t nodes_before = 0, nodes_after = 0;
  int64_t visits = 0;  ///< nodes taken from the worklist
  int sweeps = 0;
  double ms = 0;
  bool changed = false;  ///< whether the journal recorded a change
  /// One sentence for each rule that was left out, naming it, the reason and the node.
  std::vector<std::string> reports;
  void add(const Statistics& other);
};

/// The statistics as a text table: rule, tried, matches, applied, added, removed, refused with reasons, ms. Only rules that matched.
std::string text_of(const Statistics& statistics);

}  // namespace tenon::rewrite
