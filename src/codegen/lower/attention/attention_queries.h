// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Sets q.lanes, and stores the scaled queries transposed, so that they are along the lanes: AttentionCode::scaled_query[head
/// size][queries].
void prepare_queries(AttentionCode& code, QueryTile& q, double scale);

}  // namespace tenon::codegen
