// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "backend/backend.h"
#include "ir/graph.h"
#include "partition/partition.h"

namespace tenon::compiler {

/// A copy of the graph in which the nodes of plugins are replaced by their definitions, in bodies too. Errors: not_supported, one for all
/// ops that have none; limit_exceeded for definitions that contain themselves.
Result<std::unique_ptr<ir::Graph>> without_plugins(const ir::Graph& graph);

/// Whether a plugin runs any node, in bodies too. backends: those of the partition.
bool runs_plugins(const partition::Partition& partition, const backend::Backends& backends);

/// The backends of `backends` that need no library of a plugin.
backend::Backends without_plugins(const backend::Backends& backends);

}  // namespace tenon::compiler
