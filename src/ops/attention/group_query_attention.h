// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::ops {

/// The definition of a GroupQueryAttention node with a cache whose new tokens follow all rows of the past, as those of one sequence without
/// padding do: seqlens_k and total_sequence_length are not read, and the results present_key and present_value are Concat(past, rows)
/// along axis 2. Empty for a node without a past, with causal=0, or of packed operands whose width is not known. `in`: the operands, in
/// the order of the node. Errors: in build.status().
std::vector<ir::ValueId> append_to_cache(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in);

}  // namespace tenon::ops
