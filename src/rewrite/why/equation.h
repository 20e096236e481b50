// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/equation/search.h"

namespace tenon::rewrite {

/// "'name' (Op)", "graph input 'x'", "constant f32[4] 'c'", "no operand".
std::string describe(const GraphQuery& query, ValueId value);
std::string describe(const GraphQuery& query, NodeId node);

/// A supposed change of the graph, under which a pattern is tried again.
struct Hypothesis {
  enum class Kind : uint8_t { waive, skip } kind = Kind::waive;
  Mismatch miss;  ///< waive: this does not count
  NodeId node;    ///< skip: the node hands on its first operand
  std::string text;
};

/// Something that did not hold, with the way that led there.
struct MismatchRecord {
  Mismatch miss;
  int depth = 0;
  size_t order = 0;  ///< of discovery
  std::string at, expected, found;
  std::vector<NodeId> matched;
};

/// One attempt under suppositions.
struct TrialResult {
  bool matched = false;
  std::vector<MismatchRecord> misses;  ///< different ones, deepest first
  decltype(Match::nodes) nodes;
  decltype(Match::other_roots) other_roots;
};
TrialResult try_equation(const Equation& equation, const Graph& graph, NodeId root, const std::vector<Hypothesis>& hypotheses);

/// What could be supposed so that the miss is none: leaving out a node that only passes data on, another constant, ...
std::vector<Hypothesis> hypotheses_for(const Equation& equation, const Graph& graph, const MismatchRecord& record);

}  // namespace tenon::rewrite
