// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"
#include "program/build.h"

namespace tenon::compiler {

/// Shares a graph out, and the bodies of its branches and loops, and lets each backend compile its part. The backend that makes kernels
/// weaves the others' segments. `backends`: in order of priority. Errors: not_supported, naming the node.
Result<program::Lowered> lower(const ir::Graph& graph, const backend::Backends& backends, const backend::Options& options);

}  // namespace tenon::compiler
