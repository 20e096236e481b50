// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <any>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/apply.h"
#include "rewrite/driver/replace.h"
#include "rewrite/driver/rule_set.h"
#include "rewrite/driver/statistics.h"

namespace tenon::rewrite {

struct RunProgress;

/// In which order rewrites happen. worklist: a node's best match is applied at once, then its neighbours are visited again. sweep: the
/// matches of the whole graph are collected, rule by rule; those that share a node with an earlier one are dropped; then all are carried
/// out. in_turn: each sweep tries every rule, best first, at every node that existed when the sweep began; new nodes are for the next one.
enum class Order : uint8_t { worklist, sweep, in_turn };

/// A rewrite that has just been applied.
struct RewriteEvent {
  const ir::Graph& graph;
  const CompiledRule& rule;
  const Match& match;                 ///< its nodes are still alive
  std::span<const NodeId> new_nodes;  ///< new nodes
  int64_t index;                      ///< of this rewrite in the run, from 0
  int sweep;                          ///< in which sweep over the graph, from 1
};

/// How rules run: limits, order, checks and hooks.
struct Options {
  Numerics allowed = Numerics::reassociating;  ///< highest class of rules that may run
  Order order = Order::worklist;
  int64_t stop_after = std::numeric_limits<int64_t>::max();  ///< most rewrites by rules (constant folding does not count); for bisection
  /// Limits that make every run end. A rule that reaches one is disabled for the rest of the run, and the report names it.
  int repeats = 1000;  ///< longest chain of rewrites, each of which matches a node that the one before it inserted
  int64_t growth = 4;  ///< the graph has at most this many times the nodes of the start, plus 10,000
  int sweeps = 32;     ///< in the orders `sweep` and `in_turn`: at most 32 times this many sweeps that rewrite
  int iterations = std::numeric_limits<int>::max();  ///< most sweeps, even if further matches remain
  uint64_t shuffle_seed = 0;  ///< not 0: seed of a random initial order of the worklist, to find rules whose result depends on the order
  bool timing = false;        ///< measure the time of each rule (reads the clock at every attempt)
  bool bodies = true;         ///< also inside If, Loop and Scan bodies
  /// Names of nodes and values: a node of that name, or with a result of that name, is part of no rewrite and stays.
  NameSet keep;
  /// Names of rules that do not run.
  NameSet without;
  /// Updated before each attempt (see isolate.h). May be null.
  RunProgress* progress = nullptr;
  /// Given to every match (Match::args). May be null.
  const std::any* args = nullptr;
  /// Called before each rewrite is carried out. May be null.
  Check check;
  /// Called after each rewrite. May be null.
  std::function<void(const RewriteEvent&)> applied;
  /// Called every 1,024 visits; true stops early with the graph valid. May be null.
  std::function<bool()> cancelled;
  /// Constant folding, called for every node before the rules: where it returns constants, one for each result, they replace the results.
  /// May be null.
  std::function<std::optional<std::vector<ir::ConstantRef>>(const ir::Graph&, ir::NodeId)> fold;
};

/// Applies the rules until nothing matches any more.
/// Worklist in topological order; after a rewrite only new nodes, users of what was replaced (two levels) and producers that lost
/// a user are visited again; the end is confirmed by a sweep over all nodes without a change. A match is refused, with a reason, where a
/// value inside it has users outside (unless the rule sets `allow_outside_uses`), where the replacement changes the shape, where it would
/// make a cycle, or where a node is in Options::keep. A rule that throws, changes the graph while matching, returns a value of another
/// graph or another element type, fails the check or does not terminate is undone in place, named in the report and disabled; other rules
/// continue. Errors: cancelled; internal where inference of an unchanged part fails. Cost: linear in nodes and rewrites.
Result<Statistics> rewrite(ir::Graph& graph, const RuleSet& rules, const Options& options = {});

/// Erases nodes whose results nobody uses (unless they have effects, or a name in `keep`) and unused constants. Returns how many nodes.
int64_t eliminate_dead_code(ir::Graph& graph, const NameSet& keep = {});

}  // namespace tenon::rewrite
