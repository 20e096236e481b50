// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rewrite/compile/compiled_rule.h"
#include "rewrite/driver/replace.h"

namespace tenon::rewrite {

/// How why() searches.
struct WhyOptions {
  Numerics allowed = Numerics::reassociating;
  /// As in the driver's Options.
  const NameSet* keep = nullptr;
  const std::any* args = nullptr;
  /// Carries a match out on a copy of the graph, so that refusals while building and replacing are found as well. Else a match counts as
  /// `applies`; a rule that matches and rewrites in one go is always tried on a copy.
  bool try_rewrite = true;
  bool near_misses = true;  ///< search for `would_do`: up to some hundred attempts more
};

/// Why a rule does or does not rewrite at a node.
struct Why {
  enum class Outcome : uint8_t {
    applies,
    refused,  ///< it matches, and the driver or the rule's rewrite function refuses it
    no_match,
    elsewhere  ///< the rule's root has another op
  } outcome = Outcome::no_match;
  std::string rule;
  std::string node;                   ///< "node 'name' (Op)"
  int depth = 0;                      ///< parts of the pattern that matched in the deepest partial match; code rules: matched nodes
  int parts = 0;                      ///< parts in all; 0: not known (code rules)
  std::string at;                     ///< where the failing part was tested
  std::string expected, found;        ///< the failing part, and what is there
  std::string reason;                 ///< refused: why; code rules: the reason that the match function gave
  std::vector<std::string> matched;   ///< the nodes that matched before
  std::vector<std::string> would_do;  ///< changes that together would make the rule apply; empty: none were found

  std::string text() const;
};
std::string_view name_of(Why::Outcome outcome);

/// Cost: some attempts, and a copy of the graph where options.try_rewrite and the rule matches.
Why why(const Graph& graph, const CompiledRule& rule, NodeId node, const WhyOptions& options = {});

/// The `most` deepest partial matches of the rule over the nodes of a graph and of its bodies, deepest first (applies before refused before
/// no_match), nodes in order. Rewrites are not tried, near misses are sought for those that are returned. Cost: an attempt a node.
std::vector<Why> best_partial_matches(const Graph& graph, const CompiledRule& rule, size_t most, const WhyOptions& options = {});

}  // namespace tenon::rewrite
