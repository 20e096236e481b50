// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// NaN need not win: its weight is NaN.
Reg higher(AttentionCode& code, Reg a, Reg b);
/// A row without any key left subtracts 0, not -inf: its weights are 0 and its total stays 0.
Reg base_of(AttentionCode& code, Reg maximum);

/// Before the first block: no sums, and no maxima.
void begin_softmax(AttentionCode& code, const Queries& q);
/// Turns the block's scores into exp(score - maximum), and what was summed up before (where `joins`) to the new maximum.
void normalise(AttentionCode& code, const Queries& q, Reg joins, Reg count, const std::vector<Reg>& highest);
/// Whether the highest score of some query is a hidden one.
Reg has_no_visible_key(AttentionCode& code, const Queries& q);

}  // namespace tenon::codegen
