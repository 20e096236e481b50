// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "cli/rewrite/excerpt.h"

namespace tenon::cli {

/// Graphviz DOT text of a small graph in which everything can be read: attributes and constants are in the nodes, types on the edges.
/// Nodes have the classes `op`, `context`, `in` and `out`, and no colours: the page around the picture gives them, and makes the lines of a
/// node smaller than the first.
std::string excerpt_dot(const Excerpt& excerpt);

}  // namespace tenon::cli
