// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "backend/backend.h"

namespace tenon::partition {

/// Writes fused ops that no backend but the last runs as they are out in plain ops, in bodies too, and lets each backend prepare the
/// graph. Errors: those of a definition; what a backend's preparation says.
Result<void> prepare(ir::Graph& graph, const backend::Backends& backends);

/// The segments of all backends that make no kernels; what is in none is for the one that does. Each node goes to the first backend that
/// supports it; as many ready nodes of one backend as there are make a segment. Bodies of branches and loops that run as programs are
/// partitioned on their own. Errors: not_supported for a node that no backend supports, with all their reasons. Cost: linear.
Result<std::vector<ir::Segment>> partition(const ir::Graph& graph, const backend::Backends& backends);

}  // namespace tenon::partition
