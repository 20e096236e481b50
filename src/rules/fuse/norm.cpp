// SPDX-License-Identifier: Apache-2.0
// LayerNormalization and RMSNormalization written out. The proof is their definition; the sums may be taken in another order.
// The reduced axis must be the last one, and scale and bias must have exactly its size.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/give_back.h"

namespace tenon::rules::fuse_norm {
using namespace rewrite;
namespace {

/// (x - mean) / sqrt(variance + epsilon), or without the mean.
struct Bare {
  ValueId x;
  double epsilon = 0;
  bool centred = false;
};

/// The mean over the last axis alone.
ValueId mean_of(Match& m, ValueId value) {
  const NodeId mean = m.take(value, "ReduceMean");
  if (!mean || m.node(mean).attributes.integer("keepdims", 1) != 1) return {};
  const ValueId x = m.operand(mean, 0);
  const auto axes = m.ints(m.operand(mean, 1));
  const auto rank = m.rank(x);
  const bool last = axes && rank && axes->size() == 1 && ((*axes)[0] == -1 || (*axes)[0] == *rank - 1);
  return last ? x : ValueId{};
}

/// x of x * x.
ValueId root_of(Match& m, ValueId square) {
  if (const NodeId pow = m.take(square, "Pow")) return m.is_number(m.operand(pow, 1), 2) ? m.operand(pow, 0) : ValueId{};
  const NodeId mul = m.take(square, "Mul");
  return mul && m.operand(mul, 0) == m.operand(mul, 1) ? m.operand(mul, 0) : ValueId{};
}

/// What `deviation` is the square root of mean(x^2) + epsilon of.
ValueId spread_of(Match& m, ValueId deviation, double& epsilon) {
  const NodeId sqrt = m.take(deviation, "Sqrt"), add = sqrt ? m.take(m.operand(sqrt, 0), "Add") : NodeId{};
  for (size_t side : {0, 1}) {
    const auto number = add && m.is_constant(m.operand(add, side)) ? m.number(m.operand(add, side)) : std::nullopt;
    if (!number || !std::isfinite(*number)) continue;
    epsilon = *number;
    const ValueId square = mean_of(m, m.operand(add, 1 - side));
    return square ? root_of(m, square) : ValueId{};
  }
  return {};
}

/// The norm that the root is, where `x` is divided by `deviation`.
bool divided(Match& m, ValueId x, ValueId deviation) {
  Bare found;
  if (spread_of(m, deviation, found.epsilon) != x || !m.same_type(x, m.result(m.root()))) return false;
  const NodeId sub = m.made_by(x, "Sub");
  const NodeId mean = sub ? m.made_by(m.operand(sub, 1), "ReduceMean") : NodeId{};
  found.centred = mean && m.operand(mean, 0) == m.operand(sub, 0);
  if (found.centred) {
    if (!mean_of(m, m.operand(sub, 1))) return false;
    m.take(sub);
  }
  found.x = found.centred ? m.operand(sub, 0) : x;
  const DimList* shape = m.shape(found.x);
  if (!shape || !shape->back().is_number() || !is_real_arithmetic(m.dtype(found.x))) return false;
  if (!fits_attribute(found.epsilon, m.dtype(found.x))) return m.refuse("epsilon has more digits than an attribute");
  return m.keep(found);
}

bool bare_norm(Match& m) {
  if (m.node(m.root()).is("Div")) return divided(m, m.operand(m.root(), 0), m.operand(m.root(), 1));
  for (size_t side : {0, 1}) {
    m.nodes = {m.root()};
    const NodeId reciprocal = m.take(m.operand(m.root(), side), "Reciprocal");
    if (reciprocal && divided(m, m.operand(m.root(), 1 - side), m.operand(reciprocal, 0))) return true;
  }
  return false;
}

bool scaled_by_ones(const Match& m, Rewriter& w) {
  const Bare& found = m.kept<Bare>();
  auto ones = Tensor::make(m.dtype(found.x), {m.shape(found.x)->back().value()});
  if (!ones) return false;
  for (int64_t i = 0; i < ones->count(); ++i) ones->set_number(i, 1);
  return give(m, w,
              w(found.centred ? "LayerNormalization" : "RMSNormalization", {found.x, w.constant(std::move(*ones))},
                {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(found.epsilon)}}));
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
             .seeds = "LayerNormalization"},
            {.name = "layer_norm_bias",
             .docs = "the bias behind a LayerNormalization that has none",
             .equation = "Add(LayerNormalization(?x, ?scale, axis=-1, epsilon=?e, stash_type=1), ?bias)"
                         " => LayerNormalization(?x, ?scale, ?bias, axis=-1, epsilon=?e) where suffix(?bias, ?x), same_dtype(?x, ?bias)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .seeds = "LayerNormalizationScale"},
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
             .seeds = "RMSNormalization"},
            {.name = "norm_bare",
             .docs = "either norm without a scale, as it is left where all scales are 1",
             .roots = "Div Mul",
             .match = bare_norm,
             .rewrite = scaled_by_ones,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .sets = "tenon default",
             .seeds = "LayerNormalization RMSNormalization"},
            {.name = "layer_norm_scale",
             .docs = "the scale behind a LayerNormalization whose scales are 1",
             .equation = "Mul(LayerNormalization(?x, 1, axis=-1, epsilon=?e, stash_type=1), ?scale)"
                         " => LayerNormalization(?x, ?scale, axis=-1, epsilon=?e) where suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .seeds = "LayerNormalizationScale"},
            {.name = "rms_norm_scale",
             .docs = "the scale behind an RMSNormalization whose scales are 1",
             .equation = "Mul(RMSNormalization(?x, 1, axis=-1, epsilon=?e, stash_type=1), ?scale)"
                         " => RMSNormalization(?x, ?scale, axis=-1, epsilon=?e) where suffix(?scale, ?x), same_dtype(?x, ?scale)",
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .seeds = "RMSNormalizationMul"},
        },
};

}  // namespace tenon::rules::fuse_norm
