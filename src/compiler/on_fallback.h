// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// For a graph that stands beside the one that `options` are for, the model behind another or one that a segment runs: all of it runs on
/// the fallback. backends: those of the first.
CompileOptions on_fallback(const CompileOptions& options, const BackendsInUse& backends);

}  // namespace tenon::compiler
