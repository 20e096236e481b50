// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/signal/fourier.h"

namespace tenon::ops::op_blackman_window {

OP(blackman_window) {
    .name = "BlackmanWindow",
    .since_version = 17,
    .inputs = {{"size"}},
    .attributes = {{"output_datatype: int = 1", "periodic: int = 1"}},
    .infer = infer_window,
    .loop_form =
        [](const NodeView& view) {
          return window_form(view,
                             [](Expr phase) { return 0.42 - 0.5 * unary(ExprOp::cos, phase) + 0.08 * unary(ExprOp::cos, 2 * phase); });
        },
    .reference =
        [](Call& call) {
          return window_reference(call, [](double phase) { return 0.42 - 0.5 * std::cos(phase) + 0.08 * std::cos(2 * phase); });
        },
    .lowest_opset = lowest_opset_of_window,
    .first_opset = 17,
    .samples = {{"i64[] = 10", "i32[] = 7; periodic=0", "i64[] = 5; output_datatype=11", "i64[] = 0"}},
};

}  // namespace tenon::ops::op_blackman_window
