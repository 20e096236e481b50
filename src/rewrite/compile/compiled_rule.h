// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/equation/equation.h"
#include "rewrite/rule.h"

namespace tenon::rewrite {

/// The result of CompiledRule::screen: the nodes at which the rule may match, and how many nodes it has tried.
struct ScreenResult {
  std::vector<NodeId> nodes;
  int64_t tried = 0;
};

/// A rule in the form that the driver runs; it owns all its data. It is made from a Rule of the library, from a statement of a .rules file,
/// or from callables of another language. Immutable once it is in a set; may be in several. Members without a comment are those of Rule.
struct CompiledRule {
  std::string name, docs;
  std::string sets, covered_patterns;  ///< names, separated by blanks
  Stage stage = Stage::clean;
  Numerics numerics = Numerics::exact;
  bool finite = false;
  int benefit = 1;
  bool allow_outside_uses = false;
  /// Code rules: edits in place may replace operands by values of another shape; types of later nodes are then inferred again.
  bool reshapes = false;
  std::optional<Equation> equation;
  /// Code rules: the ops at whose nodes they are tried ("Transpose", "com.microsoft::Gelu", "*"). Empty: at every node.
  std::vector<std::string> roots;
  std::function<bool(Match&)> match;
  std::function<bool(const Match&, Rewriter&)> rewrite;
  std::function<bool(Match&, Rewriter&)> match_and_rewrite;  ///< in place of match and rewrite
  std::function<void(const Match&)> analyse;                 ///< in place of a rewrite: gets the match (see analyse.h)
  std::function<int64_t(const Graph&, std::span<const NodeId>)> measure;
  /// Order sweep: called once a sweep, in place of `match` at every node; returns nodes at which `match` may succeed, in any order.
  std::function<ScreenResult(const Graph&, int sweep, const std::any* args)> screen;
};
using RulePtr = std::shared_ptr<const CompiledRule>;

/// `stage` and `sets` are those of the rule's file. Patterns in builder style become an equation.
/// Errors: bad_rule where the equation does not parse, the patterns do not fit together, or there is neither nor a function;
/// not_supported where an op of the equation or of a pattern is not in the table.
Result<RulePtr> compile(const Rule& rule, const ir::OpTable& ops, Stage stage = Stage::clean, std::string_view sets = {});

}  // namespace tenon::rewrite
