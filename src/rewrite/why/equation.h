// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/equation/search.h"

namespace tenon::rewrite {

/// "'name' (Op)", "graph input 'x'", "constant f32[4] 'c'", "no operand".
std::string describe(const Look& look, ValueId value);
std::string describe(const Look& look, NodeId node);

/// A supposed change of the graph, under which a pattern is tried again.
struct Supposition {
  enum class Kind : uint8_t { waive, skip } kind = Kind::waive;
  Miss miss;    ///< waive: this does not count
  NodeId node;  ///< skip: the node hands on its first operand
  std::string text;
};

/// Something that did not hold, with the way that led there.
struct Noted {
  Miss miss;
  int depth = 0;
  size_t order = 0;  ///< of discovery
  std::string at, expected, found;
  std::vector<NodeId> matched;
};

/// One attempt under suppositions.
struct Tried {
  bool matched = false;
  std::vector<Noted> misses;  ///< different ones, deepest first
  decltype(Match::nodes) nodes;
  decltype(Match::other_roots) other_roots;
};
Tried try_equation(const Equation& equation, const Graph& graph, NodeId root, const std::vector<Supposition>& suppositions);

/// What could be supposed so that the miss is none: leaving out a node that only passes data on, another constant, ...
std::vector<Supposition> suppositions_for(const Equation& equation, const Graph& graph, const Noted& noted);

}  // namespace tenon::rewrite
