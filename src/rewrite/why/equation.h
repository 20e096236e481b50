// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/equation/search.h"

namespace tenon::rewrite {

/// A value or node for messages: "'name' (Op)", "graph input 'x'", "constant f32[4] 'c'", "no operand".
std::string describe(const GraphQuery& query, ValueId value);
std::string describe(const GraphQuery& query, NodeId node);

/// A change of the graph that is assumed when a pattern is tried again. waive: a mismatch counts as a match; skip: the uses of a node's
/// result read the node's first operand.
struct Hypothesis {
  enum class Kind : uint8_t { waive, skip } kind = Kind::waive;
  Mismatch mismatch;  ///< waive
  NodeId node;        ///< skip
  std::string text;   ///< the change, after "it would match if"
};

/// A mismatch, with what had matched before it.
struct MismatchRecord {
  Mismatch mismatch;
  int depth = 0;                    ///< terms that had matched
  size_t order = 0;                 ///< how many mismatches were recorded before
  std::string at, expected, found;  ///< as in Why
  std::vector<NodeId> matched;      ///< nodes that had matched
};

/// The result of one attempt under hypotheses.
struct TrialResult {
  bool matched = false;
  std::vector<MismatchRecord> mismatches;    ///< without repeats, deepest first
  decltype(Match::nodes) nodes;              ///< as in Match
  decltype(Match::other_roots) other_roots;  ///< as in Match
};
TrialResult try_equation(const Equation& equation, const Graph& graph, NodeId root, const std::vector<Hypothesis>& hypotheses);

/// The hypotheses under which the mismatch would be none: a node that only passes data on is skipped, a constant is another one, ...
std::vector<Hypothesis> hypotheses_for(const Equation& equation, const Graph& graph, const MismatchRecord& record);

}  // namespace tenon::rewrite
