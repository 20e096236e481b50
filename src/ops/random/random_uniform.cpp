// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_random_uniform {

OP(random_uniform) {
    .name = "RandomUniform",
    .since_version = 22,
    .attributes = {{"dtype: int = 1", "shape: ints!", "low: float = 0.0", "high: float = 1.0", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_random,
    .reference =
        [](Call& call) {
          const double low = call.view.attributes->number("low", 0), high = call.view.attributes->number("high", 1);
          return fill_random(call, call.view.attributes->ints("shape"),
                             [=](const Draws& draws, int64_t k) { return low + (high - low) * draws.uniform(k); });
        },
    .samples = {{"; shape=[2,3]", "; shape=[4], dtype=11, seed=3"}},
};

}  // namespace tenon::ops::op_random_uniform
