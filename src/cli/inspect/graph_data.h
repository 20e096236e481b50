// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "compiler/plan_record.h"
#include "ir/graph.h"

namespace tenon::cli {

/// Appends the graph, and those of its nodes' bodies, to a list of graphs as src/cli/page/view.js reads them:
///   name; inside: number of the graph around it, of a body; entry: of the engine (GraphPage adds it);
///   values: [{name, type, constant: its elements where they are few, else ""}];
///   nodes in order, inputs first, outputs last: {op, kind: "input" or "output", name, module: "encoder/layer.3", attributes: ["axis=1"],
///     in: [value or -1], out, bodies: [graph], rule, from: names of the nodes that it was made of, groups};
///   folds: [{first, period, count}] of repeated layers;  groups: [].
/// groups may be null. Returns the graph's number.
size_t append_graph(nlohmann::ordered_json& graphs, const ir::Graph& graph, const std::string& name,
                    const compiler::GroupsOfNodes* groups = nullptr);

}  // namespace tenon::cli
