// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_bernoulli {

OP(bernoulli) {
    .name = "Bernoulli",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_random_like,
    .reference =
        [](Call& call) {
          const Tensor& chance = *call.in[0];
          return fill_random(call, chance.shape(),
                             [&](const Draws& draws, int64_t k) { return draws.uniform(k) < chance.number(k) ? 1.0 : 0.0; });
        },
    .first_opset = 15,
    .samples = {{"f32[2,3] in 0..1", "f64[4] in 0..1; dtype=9"}},
};

}  // namespace tenon::ops::op_bernoulli
