// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Axes of an attention nest: batch, key head, query head of that key head, query, key, size of a head, size of a value.
enum AttentionAxis : int { kBatch, kKeyHead, kSharing, kQuery, kKey, kHeadSize, kValueSize, kAttentionAxes };

/// Whether the node is what the fused kernel runs: rank 4, float, static head sizes, no cache, no second result. Anything else is
/// expanded into plain ops first.
bool attention_fits(const ir::NodeView& view);

/// The node as one nest: accesses 0, 1, 2 are query, key and value; those of the mask follow from 3 on. The value is the score after
/// masking, with Expr::input(0) standing for the scaled product of query and key. `arrays`: of the node's operands.
Nest attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result);

/// The same of RaggedAttention, whose sequences are cut by a size that is known. Queries and keys count over all sequences: that of a batch
/// is in no place but those of the starts.
bool ragged_attention_fits(const ir::NodeView& view);
Nest ragged_attention_nest(const ir::NodeView& view, const std::vector<ArrayId>& arrays, ArrayId result);

/// The factor of the products: attribute `scale`, else 1/sqrt(head size).
double attention_scale(const ir::NodeView& view);

}  // namespace tenon::codegen
