// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/driver.h"

namespace tenon::passes {

using ir::Graph;

/// Which passes and rules run, and how.
struct Options {
  int level = 2;  ///< 0: only passes that compilation requires; 1: also `clean`; 2: also fusion; 3: all passes
  /// Which rules run, as a text for rules::select: "default+onnxruntime-bias_gelu"; empty: only `own`.
  std::string rule_selection = "tenon";
  std::vector<rewrite::RulePtr> own;            ///< further rules that the caller provides: from .rules files or callables
  std::set<std::string, std::less<>> disabled;  ///< names of passes, rule files or rules that do not run
  bool verify = false;                          ///< check every invariant of the graph after each pass
  bool isolate = false;                         ///< try the rules in a forked child first, see rewrite::rewrite_without_faulty_rules
  /// Whether the backend runs this Attention as RaggedAttention, without the padding of its sequences. May be null: none does.
  std::function<bool(const ir::NodeView&)> packs;
  /// How rules run: numerics, limits, order, checks, cancellation. `stop_after` counts over all passes; `fold` is set by the passes.
  rewrite::Options rewriting;
  /// Called before each pass with its name and place in the order. May be null.
  std::function<void(std::string_view pass, int index, int count)> progress;
  /// Called after each pass that changed something. May be null.
  std::function<void(std::string_view pass, const Graph& graph)> dump;
};

/// The result of one pass: time, and nodes before and after.
struct PassReport {
  std::string_view name;
  double ms = 0;
  int64_t nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

/// The result of all passes.
struct Report {
  std::vector<PassReport> passes;
  rewrite::Statistics rules;  ///< summed over the passes that run rules, by rule name
  int64_t nodes_before = 0, nodes_after = 0;
  double ms = 0;
};

/// The arguments of a pass besides the graph.
struct Context {
  const Options& options;
  Report& report;
  int64_t budget;          ///< rewrites left (rewrite::Options::stop_after)
  rewrite::RuleSet rules;  ///< the rules of Options::rule_selection and Options::own
  std::set<std::string, std::less<>> left_out =
      {};  ///< rules that an earlier pass disabled, because they broke a promise or reached a limit
};

/// A whole-graph step. Returns whether it changed the graph.
struct Pass {
  std::string_view name;
  std::string_view docs;
  int level;  ///< runs at this Options::level and above
  Result<bool> (*run)(Graph& graph, Context& context);
  bool again = false;  ///< repeats an earlier pass of this name; skipped where no pass has changed the graph since
};

/// Runs one pass, unless its level or the options exclude it: reports progress, measures time and nodes, dumps and verifies the graph.
/// Errors: those of the pass, with its name as the place; cancelled.
Result<bool> run_pass(const Pass& pass, Graph& graph, Context& context, int index, int count);

}  // namespace tenon::passes
