// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <any>
#include <cstdint>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/rule_set.h"

namespace tenon::rewrite {

/// Matches every rule that has `analyse`, best rule first, at every node, and calls `analyse` with each match. Nodes are visited once each,
/// in topological order, those of If, Loop and Scan bodies right before the node that holds them; a rule without `match` takes every node
/// of its roots. Rules that rewrite are skipped. Returns how many matches were analysed. `args`: the value of Match::args; may be null.
/// Errors: bad_rule where a rule throws; the first one ends the walk.
/// Cost: linear in nodes.
Result<int64_t> analyse(const ir::Graph& graph, const RuleSet& rules, const std::any* args = nullptr);

}  // namespace tenon::rewrite
