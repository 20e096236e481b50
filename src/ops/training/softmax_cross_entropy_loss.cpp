// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reference/indices.h"
#include "ops/training/loss.h"

namespace tenon::ops::op_softmax_cross_entropy_loss {

namespace {

/// Natural logarithm of the softmax over the classes (axis 1).
std::vector<double> log_softmax(const Tensor& t) {
  std::vector<double> x = numbers_of(t);
  const int64_t classes = t.shape()[1], inner = strides_of(t.shape())[1], rows = count_of(t.shape()) / std::max<int64_t>(classes, 1);
  for (int64_t r = 0; r < rows && classes > 0; ++r) {
    double* first = x.data() + r / inner * classes * inner + r % inner;
    double top = first[0], sum = 0;
    for (int64_t c = 1; c < classes; ++c) top = std::fmax(top, first[c * inner]);
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(first[c * inner] - top);
    for (int64_t c = 0; c < classes; ++c) first[c * inner] -= top + std::log(sum);
  }
  return x;
}

Result<void> evaluate(Call& call) {
  const std::vector<double> log_probabilities = log_softmax(*call.in[0]);
  if (call.out.size() > 1) store_numbers(*TRY(call.make(1, call.in[0]->shape())), log_probabilities);
  return reduce_loss(call, log_probabilities);
}

}  // namespace

OP(softmax_cross_entropy_loss) {
    .name = "SoftmaxCrossEntropyLoss",
    .since_version = 13,
    .inputs = {{"scores", "labels", "weights?"}},
    .outputs = {{"output", "log_prob?"}},
    .attributes = {{"ignore_index: int", "reduction: string = mean"}},
    .infer = infer_loss,
    .reference = evaluate,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          const ir::ValueId logs = build("LogSoftmax", {in[0]}, {{"axis", int64_t{1}}});
          return std::vector<ir::ValueId>{define_loss(build, view, logs, in), logs};
        },
    .lowest_opset = [](const NodeView&) { return 12; },
    .first_opset = 12,
    .samples = {{"f32[3,5], i64[3] in 0..4", "f32[3,5,2], i64[3,2] in 0..4, f32[5] in 0.1..1; reduction=none, outputs=2",
                 "f32[3,5,2,2], i32[3,2,2] in 0..4; reduction=sum, ignore_index=2",
                 "f64[3,5,2], i64[3,2] = [0,-1,2,4,-1,1], f64[5] in 0.1..1; ignore_index=-1"}},
};

}  // namespace tenon::ops::op_softmax_cross_entropy_loss
