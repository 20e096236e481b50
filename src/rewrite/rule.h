// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "ir/ids.h"

namespace tenon::ir {
class Builder;
class Graph;
}  // namespace tenon::ir

namespace tenon::rewrite {

using ir::Graph;
using ir::NodeId;
class Match;
class Rewriter;

/// How far a rewritten graph may differ. exact: bit for bit, NaN and infinity included, on every legal input.
/// reassociating: the same real function, rounded in another order; where the plain order overflows it may not.
/// approximate: another function (lower precision, tanh for erf); never on by default.
enum class Numerics : uint8_t { exact, reassociating, approximate };
std::string_view name_of(Numerics numerics);

/// When a rule runs. clean: makes graphs smaller or more uniform and never hides structure. fuse: recognises one op in many. trim: leaves
/// out what nobody reads; runs after recognition and before joins.
/// combine: joins fused ops and moves data layout; runs after recognition. target: says the finished graph in the ops of the
/// runtime that will run it; these rules run alone, last.
enum class Stage : uint8_t { clean, fuse, trim, combine, target };

/// One side of a rule in builder style: gets an empty graph's builder and the values that the pattern leaves open, of unknown type; answers
/// with the results. Runs when the rule is compiled, never while graphs are matched; must answer the same each time.
using Pattern = std::vector<ir::ValueId> (*)(ir::Builder& build, std::span<const ir::ValueId> inputs);

/// One rewrite: an equation, two patterns, or a pair of functions. Constant-initialised; lives for ever.
struct Rule {
  std::string_view name;
  std::string_view docs;  ///< one line: what it does and why that is right
  /// "Mul(?x, 1) => ?x"; see equation.h. Empty: what is below is the rule.
  std::string_view equation = {};
  /// Builder style: names of the values that the patterns leave open, in the order in which both get them, separated by blanks ("x scale").
  std::string_view pattern_inputs = {};
  Pattern match_pattern = nullptr;  ///< what is looked for
  Pattern apply_pattern = nullptr;  ///< its replacement: as many results
  std::string_view where = {};      ///< conditions of the patterns, as after `where` of an equation: "float(?x), rank(?scale) == 1"
  /// Code rules: ops they start from, separated by blanks ("Transpose Reshape", "com.microsoft::Gelu"). "*": every op.
  std::string_view roots = {};
  /// Looks at match.root() and decides; must not change anything. What `rewrite` needs goes into Match::state.
  bool (*match)(Match& match) = nullptr;
  /// Builds the replacement. false: refused after all, and whatever was built is taken back.
  bool (*rewrite)(const Match& match, Rewriter& rewriter) = nullptr;
  /// Instead of the two: decides and builds in one go.
  bool (*match_and_rewrite)(Match& match, Rewriter& rewriter) = nullptr;
  /// What each rewrite lowers, summed over nodes: the driver refuses one that does not. null: limits alone make it end.
  int64_t (*measure)(const Graph& graph, std::span<const NodeId> nodes) = nullptr;
  Numerics numerics = Numerics::exact;
  /// Right for finite operands alone; `docs` says what NaN and infinities give. Verification draws none then.
  bool finite = false;
  int benefit = 1;  ///< higher goes first; ties go by set order, then by order in the file
  /// Values inside the match may have users outside (they stay alive then). Default: such a match is refused.
  bool shared = false;
  /// Names of sets, separated by blanks. Empty: those of its file.
  std::string_view sets = {};
  /// Patterns of yobx (github.com/xadupre/yet-another-onnx-builder) that the rule covers, separated by blanks, without the suffix Pattern
  /// ("NotNot TransposeTranspose").
  std::string_view seeds = {};
};

/// What one file NAME.cpp below src/rules/STAGE defines. The stage says when its rules run.
struct RuleList {
  /// tenon: the model pipeline's own; default, onnxruntime: yobx's patterns (onnxruntime_cuda: of the latter what the CPU build has no
  /// kernel for); canonical: one spelling for each thing.
  std::string_view sets = "tenon";
  std::initializer_list<Rule> rules;
};

/// `RULES(clean_transpose) {.rules = {{...}, {...}}};` in src/rules/clean/movement/transpose.cpp, inside `namespace
/// tenon::rules::clean_transpose`.
#define RULES(IDENT)                                     \
  extern const ::tenon::rewrite::RuleList rules_##IDENT; \
  constinit const ::tenon::rewrite::RuleList rules_##IDENT

}  // namespace tenon::rewrite
