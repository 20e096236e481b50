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

/// What a rule that screens a whole graph has found: nodes at which it may match, and how many it has tried.
struct ScreenResult {
  std::vector<NodeId> nodes;
  int64_t tried = 0;
};

/// A rule as the driver runs it, with a life of its own: made from a Rule of the library, from a line of a file, or from callables
/// of another language. Immutable once it is in a set; may be in several.
struct CompiledRule {
  std::string name, docs;
  std::string sets, seeds;  ///< separated by blanks
  Stage stage = Stage::clean;
  Numerics numerics = Numerics::exact;
  bool finite = false;
  int benefit = 1;
  bool shared = false;
  /// Its edits may point users at values of another shape; what follows is then inferred afresh. Code rules only.
  bool reshapes = false;
  std::optional<Equation> equation;
  /// Code rules: what they start from ("Transpose", "com.microsoft::Gelu", "*"). Empty: everywhere.
  std::vector<std::string> roots;
  std::function<bool(Match&)> match;
  std::function<bool(const Match&, Rewriter&)> rewrite;
  std::function<bool(Match&, Rewriter&)> match_and_rewrite;  ///< instead of the two
  std::function<void(const Match&)> analyse;                 ///< instead of a rewrite: looks at what matched (see analyse.h)
  std::function<int64_t(const Graph&, std::span<const NodeId>)> measure;
  /// Order sweep: called once a sweep, in place of `match` at every node; returns nodes at which `match` may succeed, in any order.
  std::function<ScreenResult(const Graph&, int sweep, const std::any* args)> screen;
};
using RulePtr = std::shared_ptr<const CompiledRule>;

/// `stage` and `sets` are what the rule's file says. Patterns in builder style become an equation.
/// Errors: bad_rule where the equation does not parse, the patterns do not fit together, or there is neither nor a function;
/// not_supported where an op of the equation or of a pattern is not in the table.
Result<RulePtr> compile(const Rule& rule, const ir::OpTable& ops, Stage stage = Stage::clean, std::string_view sets = {});

}  // namespace tenon::rewrite
