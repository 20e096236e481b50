// SPDX-License-Identifier: Apache-2.0
// Factors after a norm are part of its scales, and of its bias. The product of the scales is taken first.
#include "rewrite/rule.h"

namespace tenon::rules::fuse_norm_factor {
using namespace rewrite;

RULES(fuse_norm_factor) {
    .rules =
        {
            {.name = "layer_norm_scale",
             .docs = "the scale after a LayerNormalization whose scales are 1",
             .equation = "Mul(LayerNormalization(?x, 1, axis=-1, epsilon=?e, stash_type=1), ?scale)"
                         " => LayerNormalization(?x, ?scale, axis=-1, epsilon=?e) where suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "LayerNormalizationScale"},
            {.name = "rms_norm_scale",
             .docs = "the scale after an RMSNormalization whose scales are 1",
             .equation = "Mul(RMSNormalization(?x, 1, axis=-1, epsilon=?e, stash_type=1), ?scale)"
                         " => RMSNormalization(?x, ?scale, axis=-1, epsilon=?e) where suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "RMSNormalizationMul"},
            {.name = "layer_norm_factor",
             .docs = "constant factors after a LayerNormalization are part of its scales",
             .equation = "Mul(LayerNormalization(?x, ?s, _, axis=?a, epsilon=?e, stash_type=1), ?t)"
                         " => LayerNormalization(?x, const(?s * ?t), axis=?a, epsilon=?e) where constant(?s), constant(?t),"
                         " same_dtype(?s, ?t), broadcasts(?t, ?s)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "default",
             .covered_patterns = "LayerNormalizationScale"},
            {.name = "layer_norm_factor_bias",
             .docs = "the same where the norm has a bias, which is multiplied as well",
             .equation = "Mul(LayerNormalization(?x, ?s, ?b, axis=?a, epsilon=?e, stash_type=1), ?t)"
                         " => LayerNormalization(?x, const(?s * ?t), const(?b * ?t), axis=?a, epsilon=?e) where constant(?s),"
                         " constant(?b), constant(?t), same_dtype(?s, ?t), same_dtype(?b, ?t), broadcasts(?t, ?s), broadcasts(?t, ?b)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "default",
             .covered_patterns = "LayerNormalizationScale"},
            {.name = "rms_norm_factor",
             .docs = "constant factors after an RMSNormalization are part of its scales",
             .equation = "Mul(RMSNormalization(?x, ?s, axis=?a, epsilon=?e, stash_type=1), ?t)"
                         " => RMSNormalization(?x, const(?s * ?t), axis=?a, epsilon=?e) where constant(?s), constant(?t),"
                         " same_dtype(?s, ?t), broadcasts(?t, ?s)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "default",
             .covered_patterns = "RMSNormalizationMul"},
        },
};

}  // namespace tenon::rules::fuse_norm_factor
