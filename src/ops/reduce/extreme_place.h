// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reduce/reduction.h"

namespace tenon::ops {

// Functions that ArgMax and ArgMin share: the first (or last) position of the extreme element of each row; a NaN is the extreme.

Result<void> infer_arg(NodeView& view);
/// Two reductions: the extreme value, then the smallest (largest) position that holds it. extreme: min or max.
Result<LoopForm> arg_form(const NodeView& view, Combine extreme);
/// The reference. better(best so far, candidate): the candidate replaces it. Errors: index_out_of_range for an empty axis.
Result<void> arg_reference(Call& call, bool (*better)(double, double), bool (*better_integer)(int64_t, int64_t));

}  // namespace tenon::ops
