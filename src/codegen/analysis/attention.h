// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Axes of an attention nest: batch, key head, query head among those that share a key head, query, key, element of a query or key, element
/// of a value.
enum AttentionAxis : int { kBatch, kKeyHead, kSharing, kQuery, kKey, kHeadSize, kValueSize, kAttentionAxes };

/// Whether the fused kernel runs the node: rank 4, float, static head sizes, no cache, no second result. Other nodes are expanded into
/// plain ops.
bool attention_fits(const ir::NodeView& view);

/// The node as one nest. Accesses 0, 1 and 2 load query, key and value; those from 3 on load masks. The nest's value is the score after
/// masking, in which Expr::input(0) is the scaled product of query and key. arrays: those of the node's operands.
Nest attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result);

/// The same for RaggedAttention, whose sequences lie one after the other. Queries and keys are numbered over all sequences; the batch axis,
/// which numbers sequences, occurs in no access.
bool ragged_attention_fits(const ir::NodeView& view);
Nest ragged_attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result);

/// The factor of the products of query and key: attribute `scale`, else 1/sqrt(head size).
double attention_scale(const ir::NodeView& view);

}  // namespace tenon::codegen
