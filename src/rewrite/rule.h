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
/// out elements that no node reads; runs after fuse and before combine. combine: joins fused ops and moves data layout; runs after fuse.
/// target: rewrites the finished graph to the ops of the runtime that will run it; these rules run alone, last.
enum class Stage : uint8_t { clean, fuse, trim, combine, target };

/// One side of a rule in builder style: builds its nodes into an empty graph and returns their results. `inputs`: the pattern's inputs, one
/// for each name of Rule::pattern_inputs, of unknown type. Runs when the rule is compiled, never while graphs are matched; must return the
/// same each time.
using Pattern = std::vector<ir::ValueId> (*)(ir::Builder& build, std::span<const ir::ValueId> inputs);

/// One rewrite: an equation, two patterns, or a pair of functions. Constant-initialised; lives for ever.
struct Rule {
  std::string_view name;
  std::string_view docs;  ///< one line: what it does and why that is right
  /// "Mul(?x, 1) => ?x"; see equation.h. Empty: the rule is a pair of patterns or functions, below.
  std::string_view equation = {};
  /// Builder style: the names of the inputs of both patterns, in their order, separated by blanks ("x scale").
  std::string_view pattern_inputs = {};
  Pattern match_pattern = nullptr;  ///< builds the pattern that is replaced
  Pattern apply_pattern = nullptr;  ///< builds its replacement, with as many results
  std::string_view where = {};      ///< conditions of the patterns, as after `where` of an equation: "float(?x), rank(?scale) == 1"
  /// Code rules: ops they start from, separated by blanks ("Transpose Reshape", "com.microsoft::Gelu"). "*": every op.
  std::string_view roots = {};
  /// Whether the rule matches at match.root(); must not change anything. What `rewrite` needs is passed to Match::accept.
  bool (*match)(Match& match) = nullptr;
  /// Builds the replacement. false: the rewrite is refused, and all that was built is undone.
  bool (*rewrite)(const Match& match, Rewriter& rewriter) = nullptr;
  /// In place of `match` and `rewrite`: decides and builds in one call.
  bool (*match_and_rewrite)(Match& match, Rewriter& rewriter) = nullptr;
  /// A cost of nodes that every rewrite must lower (old nodes against new ones): the driver refuses a rewrite that does not, so that the
  /// rule terminates. null: only the driver's limits end the run.
  int64_t (*measure)(const Graph& graph, std::span<const NodeId> nodes) = nullptr;
  Numerics numerics = Numerics::exact;
  /// The rule is right for finite operands only; `docs` says what NaN and infinities give. Verification draws neither for such a rule.
  bool finite = false;
  /// Of the rules that match at a node the one of the highest benefit is applied; ties go by set order, then by order in the file.
  int benefit = 1;
  /// Inner results of the match may have users outside of it; their nodes then stay in the graph. false: such a match is refused. Written
  /// `shared` in .rules files and in Python.
  bool allow_outside_uses = false;
  /// Names of sets, separated by blanks. Empty: those of its file.
  std::string_view sets = {};
  /// The patterns of yobx (github.com/xadupre/yet-another-onnx-builder) that the rule covers, separated by blanks, without the suffix
  /// Pattern
  /// ("NotNot TransposeTranspose").
  /// Written `seeds` in .rules files and in Python.
  std::string_view covered_patterns = {};
};

/// The rules of one file NAME.cpp below src/rules/STAGE. The stage determines when they run.
struct RuleList {
  /// Names of sets, separated by blanks. tenon: what compiling a model runs; default, onnxruntime: as yobx's sets of these names
  /// (onnxruntime_cuda: of the latter what the CPU build has no kernel for); canonical: brings equal subgraphs to one form.
  std::string_view sets = "tenon";
  std::initializer_list<Rule> rules;
};

/// `RULES(clean_transpose) {.rules = {{...}, {...}}};` in src/rules/clean/movement/transpose.cpp, inside `namespace
/// tenon::rules::clean_transpose`.
#define RULES(IDENT)                                     \
  extern const ::tenon::rewrite::RuleList rules_##IDENT; \
  constinit const ::tenon::rewrite::RuleList rules_##IDENT

}  // namespace tenon::rewrite
