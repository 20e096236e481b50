// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_bernoulli {

OP(bernoulli) {
    .name = "Bernoulli",
    .since = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int", "seed: float"}},
    .deterministic = false,
    .infer = infer_random_like,
    .reference =
        [](Call& call) {
          int64_t i = 0;
          const Tensor& chance = *call.in[0];
          return fill_random(call, chance.shape(), [&](Draw& draw) { return draw.uniform() < chance.number(i++) ? 1.0 : 0.0; });
        },
    .first = 15,
    .samples = {{"f32[2,3] in 0..1", "f64[4] in 0..1; dtype=9"}},
};

}  // namespace tenon::ops::op_bernoulli
