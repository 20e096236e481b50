// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_random_uniform_like {

OP(random_uniform_like) {
    .name = "RandomUniformLike",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int", "low: float = 0.0", "high: float = 1.0", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_random_like,
    .reference =
        [](Call& call) {
          const double low = call.view.attributes->number("low", 0), high = call.view.attributes->number("high", 1);
          return fill_random(call, call.in[0]->shape(),
                             [=](const Draws& draws, int64_t k) { return low + (high - low) * draws.uniform(k); });
        },
    .samples = {{"f32[2,3]", "i64[4]; dtype=11"}},
};

}  // namespace tenon::ops::op_random_uniform_like
