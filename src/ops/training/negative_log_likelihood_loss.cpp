// SPDX-License-Identifier: Apache-2.0
#include "ops/training/loss.h"

namespace tenon::ops::op_negative_log_likelihood_loss {

OP(negative_log_likelihood_loss) {
    .name = "NegativeLogLikelihoodLoss",
    .since_version = 22,
    .inputs = {{"input", "target", "weight?"}},
    .outputs = {{"loss"}},
    .attributes = {{"ignore_index: int", "reduction: string = mean"}},
    .infer = infer_loss,
    .reference = [](Call& call) { return reduce_loss(call, numbers_of(*call.in[0])); },
    .definition = [](ir::Builder& build, const NodeView& view,
                     std::span<const ir::ValueId> in) { return std::vector<ir::ValueId>{define_loss(build, view, in[0], in)}; },
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 12; },
    .first_opset = 12,
    .samples = {{"f32[3,5], i64[3] in 0..4", "f32[3,5,2], i64[3,2] in 0..4, f32[5] in 0.1..1; reduction=none",
                 "f32[3,5,2,2], i32[3,2,2] in 0..4; reduction=sum, ignore_index=2",
                 "f64[3,5,2], i64[3,2] = [0,-1,2,4,-1,1], f64[5] in 0.1..1; ignore_index=-1"}},
};

}  // namespace tenon::ops::op_negative_log_likelihood_loss
