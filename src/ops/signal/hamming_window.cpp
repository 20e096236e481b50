// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/signal/fourier.h"

namespace tenon::ops::op_hamming_window {

OP(hamming_window) {
    .name = "HammingWindow",
    .since_version = 17,
    .inputs = {{"size"}},
    .attributes = {{"output_datatype: int = 1", "periodic: int = 1"}},
    .infer = infer_window,
    .loop_form =
        [](const NodeView& view) {
          return window_form(view, [](Expr phase) { return 25.0 / 46 - 21.0 / 46 * unary(ExprOp::cos, phase); });
        },
    .reference = [](Call& call) { return window_reference(call, [](double phase) { return 25.0 / 46 - 21.0 / 46 * std::cos(phase); }); },
    .lowest_opset = lowest_opset_of_window,
    .first_opset = 17,
    .samples = {{"i64[] = 10", "i32[] = 7; periodic=0", "i64[] = 5; output_datatype=11", "i64[] = 0"}},
};

}  // namespace tenon::ops::op_hamming_window
