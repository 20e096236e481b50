// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Compiles the graph with backends[preferred] first in the order of priority; nodes that it does not support go to the others.
/// Errors: those of compile().
Result<Compiled> build_on_backend(std::unique_ptr<ir::Graph> graph, const backend::Backends& backends, size_t preferred,
                                  const CompileOptions& options);

}  // namespace tenon::compiler
