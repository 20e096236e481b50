// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"

namespace tenon::cli {

/// Ops of plugins without a definition in the graph and its bodies, with their numbers of nodes. The reference evaluator calls the plugin
/// for them too, so that their results are not checked.
std::map<std::string, size_t> ops_without_reference(const ir::Graph& graph);

}  // namespace tenon::cli
