// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ops/core/op.h"

namespace tenon::ops {

/// Operand numbers of Attention.
enum AttentionInput : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kNonpad };

/// Whether the number of query heads is a multiple of the number of key and value heads. 0 heads are valid: nothing is computed.
bool heads_fit(int64_t query_heads, int64_t heads);

/// Sizes of one Attention node; those of 3D operands after they are split into heads.
struct AttentionSizes {
  bool split = false;  ///< operands are [batch, sequence, heads * size]
  Dim batch, query_heads, heads, queries, keys, past = 0, total, size, value_size;
};
/// nullopt where a rank is not known. Errors: rank_mismatch, shape_mismatch, bad_attribute.
Result<std::optional<AttentionSizes>> attention_sizes(const NodeView& view);

/// The attention weights where softmax gives NaN, attribute `masked_rows`. zero: rows whose keys are all masked get weights 0, as in ONNX.
/// nan: they get NaN, as softmax gives. clean: every weight that is NaN, for whatever reason, becomes 0 (as PyTorch does around a softmax).
enum class MaskedRows : uint8_t { zero, nan, clean };
/// nullopt where the attribute has another value.
std::optional<MaskedRows> masked_rows_of(const ir::Attributes& attributes);

/// Attention in plain ops: splits heads, joins the cache, repeats heads, scales, caps, masks, softmax, product with V.
std::vector<ir::ValueId> define_attention(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in);

/// The reference of Attention.
Result<void> evaluate_attention(Call& call);

}  // namespace tenon::ops
