// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ops/core/op.h"

namespace tenon::ops {

/// Operand numbers of Attention.
enum AttentionInput : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kNonpad };

/// Each head of K and V stands for as many of Q. Without heads there is nothing to compute, and nothing wrong.
bool heads_fit(int64_t query_heads, int64_t heads);

/// Sizes of one Attention node; the heads are counted after 3D operands were split.
struct AttentionSizes {
  bool split = false;  ///< operands are [batch, sequence, heads * size]
  Dim batch, query_heads, heads, queries, keys, past = 0, total, size, value_size;
};
/// nullopt where a rank is not known. Errors: rank_mismatch, shape_mismatch, bad_attribute.
Result<std::optional<AttentionSizes>> attention_sizes(const NodeView& view);

/// What becomes of a row of weights that softmax cannot give, attribute `masked_rows`. zero: where a row's keys are all masked its weights
/// are 0, as ONNX has it. nan: what softmax gives, NaN. clean: every weight that is NaN, for whatever reason, is 0 (the guard that PyTorch
/// writes around a softmax).
enum class MaskedRows : uint8_t { zero, nan, clean };
/// nullopt where the attribute says something else.
std::optional<MaskedRows> masked_rows_of(const ir::Attributes& attributes);

/// Attention in plain ops: splits heads, joins the cache, repeats heads, scales, caps, masks, softmax, product with V.
std::vector<ir::ValueId> define_attention(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in);

/// The reference.
Result<void> evaluate_attention(Call& call);

}  // namespace tenon::ops
