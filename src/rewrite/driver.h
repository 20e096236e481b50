// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/rule_set.h"
#include "rewrite/statistics.h"

namespace tenon::rewrite {

struct Options {
  Numerics allowed = Numerics::reassociating;                ///< highest class of rules that may run
  int64_t stop_after = std::numeric_limits<int64_t>::max();  ///< rewrites; for bisecting
  /// Limits that make every run end. A rule that meets one is left out for the rest of the run, and the report names it.
  int repeats = 1000;  ///< rewrites one upon the other: a node made by a rewrite of a node made by a rewrite ...
  int64_t growth = 4;  ///< nodes at most this many times those at the start, plus 10,000
  int sweeps = 32;
  bool timing = false;  ///< measure each rule (two clock reads a try)
  bool bodies = true;   ///< also inside If, Loop and Scan bodies
  /// Asked now and then; true stops early with the graph valid. May be null.
  std::function<bool()> cancelled;
  /// Tried at every node before the rules: may answer with one constant a result, which then replace them. May be null.
  std::function<std::optional<std::vector<ir::ConstantRef>>(const ir::Graph&, ir::NodeId)> fold;
};

/// Applies the rules until nothing matches any more.
/// Worklist in topological order; after a rewrite only new nodes, users of what was replaced (two levels) and producers that lost
/// a user are looked at again; a last look over all nodes confirms the end. A match is refused, with a reason, where a value
/// inside it has users outside (unless the rule says `shared`), where the replacement changes types, or where it would make a
/// cycle. A rule that fails is undone in place.
/// Errors: cancelled; internal where inference of an unchanged part fails. Cost: linear in nodes and rewrites.
Result<Statistics> rewrite(ir::Graph& graph, const RuleSet& rules, const Options& options = {});

/// Erases nodes whose results nobody uses (unless they have effects) and unused constants. Returns how many nodes.
int64_t remove_dead(ir::Graph& graph);

}  // namespace tenon::rewrite
