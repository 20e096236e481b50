// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// The compile options of a fallback graph, or of a graph that a segment runs: all nodes run on the fallback backend of `backends`, those
/// of the first entry.
CompileOptions fallback_options(const CompileOptions& options, const BackendsInUse& backends);

}  // namespace tenon::compiler
