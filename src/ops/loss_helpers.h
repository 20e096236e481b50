// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/reference_helpers.h"

namespace tenon::ops {

/// What NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss share: operands [N, C, d...] and i32 or i64 [N, d...], optional weights [C].
Result<void> infer_loss(NodeView& view);
/// The weighted sum, mean or element-wise negative of log_probabilities at the targets. Errors: index_out_of_range.
Result<void> reduce_loss(Call& call, const std::vector<double>& log_probabilities);

}  // namespace tenon::ops
