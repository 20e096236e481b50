// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// What NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss share: operands [N, C, d...] and i32 or i64 [N, d...], optional weights [C].
Result<void> infer_loss(NodeView& view);
/// The weighted sum, mean or element-wise negative of log_probabilities at the targets. Errors: index_out_of_range.
Result<void> reduce_loss(Call& call, const std::vector<double>& log_probabilities);
/// The same in plain ops; in: the operands of the node.
ir::ValueId define_loss(ir::Builder& build, const NodeView& view, ir::ValueId log_probabilities, std::span<const ir::ValueId> in);

}  // namespace tenon::ops
