// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization written out. The proof is their definition; the sums may be taken in another order.
// The reduced axes must be the last ones; a scale or bias that is taken in must have exactly the size of the last axis.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/norms.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_norm {
using namespace rewrite;
namespace {

bool written_out(Match& m) {
  const auto found = match_unscaled_norm(m);
  return found && m.accept(*found);
}

bool scaled_by_ones(const Match& m, Rewriter& w) {
  const UnscaledNorm& found = m.state<UnscaledNorm>();
  const int64_t axis = found.axis - *m.rank(found.x);
  return replace_root(m, w,
                      w(found.centred ? "LayerNormalization" : "RMSNormalization", {found.x, unit_scale(m, w, found)},
                        {{"axis", axis}, {"epsilon", static_cast<float>(found.epsilon)}}));
}

}  // namespace

RULES(fuse_norm) {
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
                 " where float(?x), finite(?eps), size(?eps) == 1, rank(?eps) <= rank(?x),"
                 " last_axis(?a, ?x), last_axis(?b, ?x), suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "LayerNormalization"},
            {.name = "layer_norm_bias",
             .docs = "the bias after a LayerNormalization that has none",
             .equation = "Add(LayerNormalization(?x, ?scale, axis=-1, epsilon=?e, stash_type=1), ?bias)"
                         " => LayerNormalization(?x, ?scale, ?bias, axis=-1, epsilon=?e) where suffix(?bias, ?x), same_dtype(?x, ?bias)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "LayerNormalizationScale"},
            {.name = "rms_norm",
             .docs = "x / sqrt(mean(x^2) + eps) * scale, as T5, LLaMA and Qwen are exported",
             .equation = "Mul((Mul(?x, Reciprocal(Sqrt(Add(ReduceMean((Pow(?x, 2) | Mul(?x, ?x)), ?a, keepdims=1), ?eps))))"
                         "    |Div(?x, Sqrt(Add(ReduceMean((Pow(?x, 2) | Mul(?x, ?x)), ?a, keepdims=1), ?eps)))), ?scale)"
                         " => RMSNormalization(?x, ?scale, axis=-1, epsilon=value(?eps))"
                         " where float(?x), finite(?eps), size(?eps) == 1, rank(?eps) <= rank(?x),"
                         " last_axis(?a, ?x), suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 7,
             .sets = "tenon default",
             .covered_patterns = "RMSNormalization"},
            {.name = "norm_bare",
             .docs = "either norm without a scale, as it is left where all scales are 1",
             .roots = "Div Mul",
             .match = written_out,
             .rewrite = scaled_by_ones,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .sets = "tenon default",
             .covered_patterns = "LayerNormalization RMSNormalization"},
        },
};

}  // namespace tenon::rules::fuse_norm
