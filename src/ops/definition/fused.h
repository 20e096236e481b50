// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ops/infer/infer.h"

namespace tenon::ops {

/// Types of the results of a fused op: those of its definition, built aside over operands of the same types. Where the definition does
/// not know the case (a rank is missing), results have the dtype of operand 0 and no shape.
/// Errors: what an op of the definition refuses. Cost: that of building the definition.
Result<void> infer_by_definition(NodeView& view);

/// BiasGelu and FastGelu: operand 0, to which operand 1, where given, adds a number a column. Errors: rank_mismatch, shape_mismatch.
Result<void> infer_biased(NodeView& view);
/// The norms of a sum of operands 0 and 1: the norm, mean and deviation (f32, one a row), the sum. Errors: those of broadcasting.
Result<void> infer_skip_norm(NodeView& view);

/// The activation of FusedConv and FusedGemm: Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid; "" is none.
/// parameters: LeakyRelu [slope], Clip [least, most], HardSigmoid [slope, offset]; missing ones are the op's defaults.
/// None where the name is not known.
std::optional<ir::ValueId> activated(ir::Builder& build, ir::ValueId x, DType dtype, const std::string& name,
                                     std::span<const float> parameters);

/// x * factor; x itself where the factor is 1.
ir::ValueId scaled(ir::Builder& build, ir::ValueId x, DType dtype, double factor);
/// What a mask of 1 and 0 over the keys adds to the scores: 0, and `filter` where a key is masked. Operand `k` of the node, of rank 2
/// [batch, keys] or 3 [batch, queries, keys].
ir::ValueId padding_scores(ir::Builder& build, ir::ValueId mask, const NodeView& view, size_t k, DType dtype, double filter);
/// Each head's share of the last axis: [batch, sequence, heads * size] to [batch, heads, sequence, size].
ir::ValueId heads_apart(ir::Builder& build, ir::ValueId x, int64_t heads);
/// And back.
ir::ValueId heads_together(ir::Builder& build, ir::ValueId x);

}  // namespace tenon::ops
