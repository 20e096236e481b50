// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Turns inputs with defaults into constants in the source's graphs. Where they can be overridden, adds a fallback in which they are
/// inputs; a default of strings is always a constant, because an engine cannot store it. freeze: all defaults become constants, and none
/// can be overridden. Errors: those of inference. Cost: a copy of the graphs that have defaults, without their weights.
Result<void> resolve_input_defaults(Source& source, bool freeze);

}  // namespace tenon::compiler
