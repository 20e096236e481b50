// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Options for a further graph of an engine, a fallback's or one that a segment runs: all of it runs on the fallback backend. backends:
/// those of the first.
CompileOptions on_fallback(const CompileOptions& options, const BackendsInUse& backends);

}  // namespace tenon::compiler
