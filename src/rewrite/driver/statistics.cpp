// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/statistics.h"

#include <fmt/format.h>

#include "rewrite/rule.h"

namespace tenon::rewrite {

std::string_view name_of(Numerics numerics) {
  switch (numerics) {
    case Numerics::exact: return "exact";
    case Numerics::reassociating: return "reassociating";
    case Numerics::approximate: return "approximate";
  }
  return "unknown";
}

void Statistics::add(const Statistics& other) {
  if (rules.size() < other.rules.size()) rules.resize(other.rules.size());
  for (size_t i = 0; i < other.rules.size(); ++i) {
    RuleStatistics& mine = rules[i];
    const RuleStatistics& theirs = other.rules[i];
    mine.name = theirs.name;
    mine.sets = theirs.sets;
    mine.tried += theirs.tried;
    mine.matches += theirs.matches;
    mine.applied += theirs.applied;
    mine.added += theirs.added;
    mine.removed += theirs.removed;
    mine.ms += theirs.ms;
    mine.left_out |= theirs.left_out;
    for (const auto& [reason, count] : theirs.refused) mine.refused[reason] += count;
  }
  nodes_before += other.nodes_before;
  nodes_after += other.nodes_after;
  visits += other.visits;
  sweeps += other.sweeps;
  ms += other.ms;
  changed |= other.changed;
  reports.insert(reports.end(), other.reports.begin(), other.reports.end());
}

std::string text_of(const Statistics& statistics) {
  std::string out =
      fmt::format("{:32} {:>8} {:>8} {:>8} {:>7} {:>8} {:>8}  refused\n", "rule", "tried", "matches", "applied", "added", "removed", "ms");
  for (const RuleStatistics& r : statistics.rules) {
    if (r.matches == 0) continue;
    out += fmt::format("{:32} {:8} {:8} {:8} {:7} {:8} {:8.2f}  ", r.name, r.tried, r.matches, r.applied, r.added, r.removed, r.ms);
    for (const auto& [reason, count] : r.refused) out += fmt::format("{} x{}; ", reason, count);
    out += '\n';
  }
  for (const std::string& report : statistics.reports) out += report + '\n';
  return out;
}

}  // namespace tenon::rewrite
