// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_random_normal_like {

OP(random_normal_like) {
    .name = "RandomNormalLike",
    .since_version = 22,
    .inputs = {{"input"}},
    .attributes = {{"dtype: int", "mean: float = 0.0", "scale: float = 1.0", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_random_like,
    .reference =
        [](Call& call) {
          const double mean = call.view.attributes->number("mean", 0), scale = call.view.attributes->number("scale", 1);
          return fill_random(call, call.in[0]->shape(), [=](const Draws& draws, int64_t k) { return mean + scale * draws.normal(k); });
        },
    .samples = {{"f32[2,3]", "i64[4]; dtype=11"}},
};

}  // namespace tenon::ops::op_random_normal_like
