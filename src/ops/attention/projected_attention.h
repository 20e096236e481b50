// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/infer/types.h"

namespace tenon::ops {

/// Numbers of the operands in which Attention and QAttention of ONNX Runtime differ.
struct AttentionOperands {
  size_t weights, mask, past;
};

/// Widths of query, key and value side by side in the weights: qkv_hidden_sizes, else three equal ones; empty where they are not known or
/// do not fit.
Ints attention_widths(const NodeView& view, size_t weights);
/// Errors: not_supported for rotation inside, a cache whose memory is shared, and a mask of another size than the definition handles;
/// rank_mismatch; bad_attribute.
Result<void> check_projected_attention(const NodeView& view, AttentionOperands operands);
/// Both ops after the product of operand 0 with the weights. projected: [batch, sequence, all widths]; scores: added to those of
/// the attention, may be none. A mask counts keys (see length_scores), or is [batch, keys], [batch, queries, keys] or [batch, 1, most,
/// most]. Returns the result and, where requested, the cache [2, batch, heads, sequence, size]; empty where sizes are not known.
std::vector<ir::ValueId> define_projected_attention(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in,
                                                    AttentionOperands operands, ir::ValueId projected, ir::ValueId scores);

}  // namespace tenon::ops
