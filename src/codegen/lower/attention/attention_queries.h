// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/attention/attention_code.h"

namespace tenon::codegen {

/// Computes the lanes of `q`, and transposes its queries so that they lie along the lanes: scaled_query[head size][queries].
void prepare_queries(AttentionCode& code, Queries& q, double scale);

}  // namespace tenon::codegen
