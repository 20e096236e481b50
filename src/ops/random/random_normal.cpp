// SPDX-License-Identifier: Apache-2.0
#include "ops/random/draw.h"

namespace tenon::ops::op_random_normal {

OP(random_normal) {
    .name = "RandomNormal",
    .since_version = 22,
    .attributes = {{"dtype: int = 1", "shape: ints!", "mean: float = 0.0", "scale: float = 1.0", "seed: float", "stream: int"}},
    .deterministic = false,
    .infer = infer_random,
    .reference =
        [](Call& call) {
          const double mean = call.view.attributes->number("mean", 0), scale = call.view.attributes->number("scale", 1);
          return fill_random(call, call.view.attributes->ints("shape"),
                             [=](const Draws& draws, int64_t k) { return mean + scale * draws.normal(k); });
        },
    .samples = {{"; shape=[2,3]", "; shape=[4], dtype=11, seed=3"}},
};

}  // namespace tenon::ops::op_random_normal
