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

/// A rewrite that is built and not yet applied: both sides are in the graph, and the new side has no users.
struct Proposal {
  const ir::Graph& graph;
  const CompiledRule& rule;
  const Match& match;                                         ///< match.nodes: the old side
  std::span<const NodeId> new_nodes;                          ///< the new side, in topological order
  std::span<const std::pair<ValueId, ValueId>> replacements;  ///< old value, new value
  bool edits_in_place = false;  ///< the rule has also changed existing nodes: the old side is no longer intact
};
/// Called before a proposal is applied; an error rejects it.
using Check = std::function<Result<void>(const Proposal&)>;

/// The result of one attempt. refused: the rule matches, and the driver or the rule itself refuses the rewrite; broken: the rule broke a
/// promise that every rule gives, and is disabled.
struct Outcome {
  enum class Kind : uint8_t { no_match, refused, broken, applied } kind = Kind::no_match;
  std::string reason;
};

/// One attempt of one rule at one node: match, guard, build, check, replace. Unless it is `applied` the graph is as before.
/// The graph's listener must be `journal`; the caller erases dead nodes.
class Attempt {
 public:
  Attempt(ir::Graph& graph, Journal& journal, const Check& check) : graph_(graph), journal_(journal), check_(check) {}

  /// Runs the rule's match and the guards; changes nothing. The outcome `applied` means that the match may be carried out.
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

/// The reason why the driver refuses to rewrite this match (users outside, different placements); empty where there is none. Cost: the uses
/// of its inner values.
std::string_view conflict_of(const Match& match, const CompiledRule& rule);

/// Whether the node may be erased: no result is used, and the op has no effects.
bool is_dead(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::rewrite
