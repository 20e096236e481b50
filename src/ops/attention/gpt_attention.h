// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::ops::op_gpt_attention {

/// Operand numbers of GPTAttention, see OP(gpt_attention).
enum Input : size_t { kQkv, kContextLengths, kPastKeyValue, kQkvBias, kPastLengths, kPageTable, kWindow, kLognScaling };

/// The numbers of heads of Q and of K and V, and the elements of a head.
struct Heads {
  int64_t queries, keys, size;
  int64_t width() const { return (queries + 2 * keys) * size; }
};

/// Errors: bad_attribute.
Result<Heads> heads_of(const NodeView& view);

/// The padding is removed: sequences lie one after the other in a batch of 1.
inline bool is_packed(const NodeView& view) { return view.attributes->integer("packed", 0) != 0; }
inline bool is_causal(const NodeView& view) { return view.attributes->integer("causal", 1) != 0; }

/// What position_embedding_type has as a rotation of q and k, numbered as TensorRT-LLM's PositionEmbeddingType.
enum class Rotation : uint8_t {
  none = 0,    ///< learned_absolute: positions are added to the embeddings
  pairs = 1,   ///< rope_gptj: elements 2i and 2i + 1 of a head
  halves = 2,  ///< rope_gpt_neox: elements i and i + rotary_embedding_dim / 2
};
inline Rotation rotation_of(const NodeView& view) { return static_cast<Rotation>(view.attributes->integer("position_embedding_type", 0)); }

/// The definition of a node whose operands and attributes the op's infer() accepts. Errors: in build.status().
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in);

}  // namespace tenon::ops::op_gpt_attention
