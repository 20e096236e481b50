// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Leaves sums, maxima and totals of the task's part of the keys.
void leave_part(AttentionCode& code, const Queries& q);
/// Adds up what the parts of a tile have left, at their common maximum.
void join_parts(AttentionCode& code, const Queries& q);

}  // namespace tenon::codegen
