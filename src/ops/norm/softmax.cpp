// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/norm/softmax_rows.h"

namespace tenon::ops::op_softmax {

namespace {

void row(std::span<double> x) {
  double top = -INFINITY, sum = 0;
  for (double v : x) top = v != v ? v : std::fmax(top, v);
  for (double v : x) sum += std::exp(v - top);
  for (double& v : x) v = std::exp(v - top) / sum;
}

}  // namespace

OP(softmax) {
    .name = "Softmax",
    .since = 13,
    .inputs = {"input"},
    .attributes = {"axis: int = -1"},
    .infer = infer_softmax,
    .form = [](const NodeView& view) { return softmax_form(view, [](Expr x, Expr sum) { return exp(x) / sum; }); },
    .reference = [](Call& call) { return softmax_reference(call, row); },
    .upgrade = upgrade_flattened_axis,
    .lowest_opset = [](const NodeView& view) { return view.type(0).has_rank() ? 7 : 13; },
    .downgrade = axis_downgrade,
    .samples = kSoftmaxSamples,
};

}  // namespace tenon::ops::op_softmax
