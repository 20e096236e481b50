// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Writes the sums of all valid queries, divided by their totals.
void write_results(AttentionCode& code, const QueryTile& q, ops::MaskedRows masked_rows);

}  // namespace tenon::codegen
