// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/driver/journal.h"
#include "rewrite/match.h"

namespace tenon::rewrite {

/// A rewrite that is built and not yet carried out: both sides are in the graph, and nobody uses the new one.
struct Proposal {
  const ir::Graph& graph;
  const CompiledRule& rule;
  const Match& match;                                         ///< match.nodes: the old side
  std::span<const NodeId> made;                               ///< the new side, in topological order
  std::span<const std::pair<ValueId, ValueId>> replacements;  ///< old value, new value
  bool edits_in_place = false;                                ///< the rule has changed nodes as well: the old side is no longer intact
};
/// Called before a proposal is carried out; an error states why it is wrong.
using Check = std::function<Result<void>(const Proposal&)>;

/// What came of one attempt. broken: the rule did what no rule may do; it is left out from then on.
struct Outcome {
  enum class Kind : uint8_t { no_match, refused, broken, applied } kind = Kind::no_match;
  std::string reason;
};

/// One attempt of one rule at one node: match, guard, build, check, replace. Unless it is `applied` the graph is as before.
/// The graph's listener must be `journal`; the caller erases what died.
class Attempt {
 public:
  Attempt(ir::Graph& graph, Journal& journal, const Check& check) : graph_(graph), journal_(journal), check_(check) {}

  /// Runs the rule's match and the guards; changes nothing. `applied` says that the match may be carried out.
  Outcome decide(const CompiledRule& rule, Match& match);
  /// Carries a decided match out.
  Outcome carry_out(const CompiledRule& rule, Match& match);

 private:
  Outcome build(const CompiledRule& rule, Match& match, Rewriter& rewriter);
  Outcome check(const CompiledRule& rule, const Match& match, const Rewriter& rewriter);
  Outcome replace_all(const CompiledRule& rule, const Rewriter& rewriter);
  bool has_reshaped(const CompiledRule& rule) const;

  ir::Graph& graph_;
  Journal& journal_;
  const Check& check_;
};

/// Why the match may not be rewritten whatever the rule says; empty where it may. Cost: the uses of the values inside.
std::string_view conflict_of(const Match& match, const CompiledRule& rule);

/// True where nobody would miss the node: no result is used and the op has no effects.
bool is_dead(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::rewrite
