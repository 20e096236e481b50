// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// The graph on one backend, the `first`; what it does not take goes to the others. Errors: those of compile().
Result<Compiled> build_on(std::unique_ptr<ir::Graph> graph, const backend::Backends& backends, size_t first, const CompileOptions& options);

}  // namespace tenon::compiler
