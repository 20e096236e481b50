// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver.h"

namespace tenon::passes {

using ir::Graph;

struct Options {
  int level = 2;  ///< 0: nothing but what compiling needs; 1: clean; 2: and fuse; 3: and combine
  rewrite::Numerics allowed = rewrite::Numerics::reassociating;
  std::set<std::string, std::less<>> off;                    ///< names of passes, rule files or rules that do not run
  int64_t stop_after = std::numeric_limits<int64_t>::max();  ///< rewrites by rules, over all passes
  bool timing = false;                                       ///< measure each rule too
  bool verify = false;                                       ///< check every invariant of the graph after each pass
  /// Called before each pass with its name and place in the order. May be null.
  std::function<void(std::string_view pass, int index, int count)> progress;
  /// Called after each pass that changed something. May be null.
  std::function<void(std::string_view pass, const Graph& graph)> dump;
  std::function<bool()> cancelled;
};

/// What one pass did.
struct PassReport {
  std::string_view name;
  double ms = 0;
  int64_t nodes_before = 0, nodes_after = 0;
  bool changed = false;
};

struct Report {
  std::vector<PassReport> passes;
  rewrite::Statistics rules;  ///< summed over the passes that run rules, by rule name
  int64_t nodes_before = 0, nodes_after = 0;
  double ms = 0;
};

/// What a pass is given beside the graph.
struct Context {
  const Options& options;
  Report& report;
  int64_t budget;  ///< rewrites left (Options::stop_after)
};

/// A whole-graph step. Returns whether it changed the graph.
struct Pass {
  std::string_view name;
  std::string_view docs;
  int level;  ///< runs from this level on
  Result<bool> (*run)(Graph& graph, Context& context);
  bool again = false;  ///< a pass of this name ran before; left out where no pass has changed anything since
};

/// The one door: on/off switch, progress, time, change, dump, verification, cancellation.
/// Errors: those of the pass, with its name as the place; cancelled.
Result<bool> run_pass(const Pass& pass, Graph& graph, Context& context, int index, int count);

}  // namespace tenon::passes
