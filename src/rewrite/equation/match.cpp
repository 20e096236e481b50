// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/search.h"

namespace tenon::rewrite {
namespace {

/// A node that the pattern meets twice is one node of the match.
void drop_repeats(Match& match) {
  decltype(match.nodes) once;
  for (NodeId node : match.nodes)
    if (std::ranges::find(once, node) == once.end()) once.push_back(node);
  match.nodes = std::move(once);
}

}  // namespace

bool Equation::match(Match& match) const {
  NoTrace none;
  Search<NoTrace> search(*this, match, none);
  if (!search.run()) return search.gave_up() ? match.refuse("the search takes over 1,048,576 steps") : false;
  drop_repeats(match);
  for (size_t i = 1; i < search.bindings().roots.size(); ++i) match.other_roots.push_back(match.producer(search.bindings().roots[i]));
  match.accept(std::move(search.bindings()));
  return true;
}

}  // namespace tenon::rewrite
