// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "passes/pass.h"

namespace tenon::cli {

class Console;

/// Nodes of a graph and of all bodies in it.
int64_t count_nodes(const ir::Graph& graph);

/// For --stats: prints the counts of each rule that matched, then of each pass.
void print_statistics(const passes::Report& report, Console& console);
/// [{name, set, matches, applied, added, removed, refused: {reason: count}, ms, tried, left_out}]: every rule that ran.
nlohmann::ordered_json rules_json(const rewrite::Statistics& statistics);
/// [{name, nodes_before, nodes_after, ms, changed}]
nlohmann::ordered_json passes_json(const passes::Report& report);
/// Nodes that became constants because their operands are constant.
int64_t folded_nodes(const rewrite::Statistics& statistics);

}  // namespace tenon::cli
