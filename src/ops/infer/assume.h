// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/function_ref.h"
#include "ir/assumptions.h"
#include "ops/core/op.h"

namespace tenon::ops {

using Assumed = ir::Assumption::Kind;

/// Whether what inference takes for granted of two sizes holds, as far as that is known; where it is not, it is noted in the view and
/// counts as true. `what`: the message of the error that it is at the run.
bool assume(const NodeView& view, Assumed kind, Dim a, Dim b, FunctionRef<std::string()> what);

}  // namespace tenon::ops
