// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"

namespace tenon::compiler {

/// Whether each unknown op of the graph, bodies included, is run by one of `backends` and has results whose types the model declares.
/// Errors: not_supported, one for all ops that no backend runs, with counts and the backends' reasons for the first; bad_graph for a result
/// without type.
Result<void> check_unknown_ops(const ir::Graph& graph, const backend::Backends& backends);

}  // namespace tenon::compiler
