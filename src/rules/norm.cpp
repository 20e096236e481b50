// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization written out. The proof is their definition; the sums may be taken in another order.
// The reduced axis must be the last one, and scale and bias must have exactly its size.
#include "rewrite/rule.h"

namespace tenon::rules {
using namespace rewrite;

RULES(norm) {
    .stage = Stage::fuse,
    .rules =
        {
            {.name = "layer_norm",
             .docs = "(x - mean) / sqrt(var + eps) * scale, as torch.nn.LayerNorm is exported below opset 17",
             .equation =
                 "Mul((Div(Sub(?x, ReduceMean(?x, ?a, keepdims=1)),"
                 "         Sqrt(Add(ReduceMean((Pow(Sub(?x, ReduceMean(?x, ?a, keepdims=1)), 2)"
                 "                             |Mul(Sub(?x, ReduceMean(?x, ?a, keepdims=1)), Sub(?x, ReduceMean(?x, ?a, keepdims=1)))),"
                 "                             ?b, keepdims=1), ?eps)))"
                 "     |Mul(Sub(?x, ReduceMean(?x, ?a, keepdims=1)),"
                 "         Reciprocal(Sqrt(Add(ReduceMean((Pow(Sub(?x, ReduceMean(?x, ?a, keepdims=1)), 2)"
                 "                             |Mul(Sub(?x, ReduceMean(?x, ?a, keepdims=1)), Sub(?x, ReduceMean(?x, ?a, keepdims=1)))),"
                 "                             ?b, keepdims=1), ?eps))))),"
                 "    ?scale)"
                 " => LayerNormalization(?x, ?scale, axis=-1, epsilon=value(?eps))"
                 " where float(?x), finite(?eps), last_axis(?a, ?x), last_axis(?b, ?x), suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8},
            {.name = "layer_norm_bias",
             .docs = "the bias behind a LayerNormalization that has none",
             .equation = "Add(LayerNormalization(?x, ?scale, axis=-1, epsilon=?e, stash_type=1), ?bias)"
                         " => LayerNormalization(?x, ?scale, ?bias, axis=-1, epsilon=?e) where suffix(?bias, ?x), same_dtype(?x, ?bias)",
             .benefit = 8},
            {.name = "rms_norm",
             .docs = "x / sqrt(mean(x^2) + eps) * scale, as T5, LLaMA and Qwen are exported",
             .equation = "Mul((Mul(?x, Reciprocal(Sqrt(Add(ReduceMean((Pow(?x, 2) | Mul(?x, ?x)), ?a, keepdims=1), ?eps))))"
                         "    |Div(?x, Sqrt(Add(ReduceMean((Pow(?x, 2) | Mul(?x, ?x)), ?a, keepdims=1), ?eps)))), ?scale)"
                         " => RMSNormalization(?x, ?scale, axis=-1, epsilon=value(?eps))"
                         " where float(?x), finite(?eps), last_axis(?a, ?x), suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 7},
        },
};

}  // namespace tenon::rules
