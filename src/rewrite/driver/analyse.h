// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <any>
#include <cstdint>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/rule_set.h"

namespace tenon::rewrite {

/// Shows every node to every rule that has `analyse`, best rule first: where it matches, `analyse` is called with the match. Nodes are
/// taken once each, in topological order, those of If, Loop and Scan bodies right before the node that holds them; a rule without
/// `match` takes every node of its roots. Rules that rewrite are skipped. Returns how many matches were analysed.
/// `args`: what Match::args finds; may be null.
/// Errors: bad_rule where a rule throws; the first one ends the walk.
/// Cost: linear in nodes.
Result<int64_t> analyse(const ir::Graph& graph, const RuleSet& rules, const std::any* args = nullptr);

}  // namespace tenon::rewrite
