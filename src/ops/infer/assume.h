// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/function_ref.h"
#include "ir/assumptions.h"
#include "ops/core/op.h"

namespace tenon::ops {

using AssumptionKind = ir::Assumption::Kind;

/// Checks a relation of two sizes. Where the relation is known to hold or not, that is the result; where it cannot be decided, an
/// assumption is recorded in the view, which the runtime checks, and the result is true. `what`: the message of the runtime's error.
bool assume(const NodeView& view, AssumptionKind kind, Dim a, Dim b, FunctionRef<std::string()> what);

}  // namespace tenon::ops
