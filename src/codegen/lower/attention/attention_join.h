// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Stores sums, maxima and totals of the task's part of the keys, for the second kernel.
void store_part(AttentionCode& code, const QueryTile& q);
/// Adds up the stored results of all parts of a tile, scaled to their common maximum.
void merge_parts(AttentionCode& code, const QueryTile& q);

}  // namespace tenon::codegen
