// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "backend/backend.h"
#include "ir/graph.h"
#include "partition/partition.h"

namespace tenon::compiler {

/// A copy in which definitions stand in place of the nodes of plugins, in bodies too. Errors: not_supported, one for all ops that have
/// none; limit_exceeded for definitions that hold themselves.
Result<std::unique_ptr<ir::Graph>> without_plugins(const ir::Graph& graph);

/// Whether a plugin runs a node, of bodies too. backends: that the shares count.
bool runs_plugins(const partition::Partition& partition, const backend::Backends& backends);

/// Those that run without libraries of plugins.
backend::Backends without_plugins(const backend::Backends& backends);

}  // namespace tenon::compiler
