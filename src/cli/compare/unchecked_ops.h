// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"

namespace tenon::cli {

/// Ops of the graph and its bodies that only their plugins compute, without a definition, and how many nodes of each: the reference calls
/// the plugin too, so that nothing checks it.
std::map<std::string, size_t> ops_without_reference(const ir::Graph& graph);

}  // namespace tenon::cli
