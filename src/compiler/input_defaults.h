// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Makes constants of the defaults of the source's graphs. Where some can be overridden, a fallback for that keeps them; a default of
/// strings is a constant everywhere, because an engine holds none. freeze: none can be overridden.
/// Errors: those of inference. Cost: a copy of the graphs that have defaults, without their weights.
Result<void> settle_input_defaults(Source& source, bool freeze);

}  // namespace tenon::compiler
