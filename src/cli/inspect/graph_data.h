// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "codegen/loops/nest.h"
#include "ir/graph.h"

namespace tenon::cli {

/// Numbers of the plan's groups that compute a node; what was inlined into its readers stands in several.
using GroupsOfNodes = std::unordered_map<ir::NodeId, std::vector<size_t>>;
GroupsOfNodes groups_of_nodes(const codegen::Plan& plan);

/// Appends the graph, and those of its nodes' bodies, to a list of graphs as src/cli/page/view.js reads them:
///   name; inside: number of the graph around it, of a body;
///   values: [{name, type, constant: its elements where they are few, else ""}];
///   nodes in order, inputs first, outputs last: {op, kind: "input" or "output", name, module: "encoder/layer.3", attributes: ["axis=1"],
///     in: [value or -1], out, bodies: [graph], rule, from: names of the nodes that it was made of, groups};
///   folds: [{first, period, count}] of repeated layers;  groups: [].
/// groups may be null. Returns the graph's number.
size_t append_graph(nlohmann::ordered_json& graphs, const ir::Graph& graph, const std::string& name, const GroupsOfNodes* groups = nullptr);

}  // namespace tenon::cli
