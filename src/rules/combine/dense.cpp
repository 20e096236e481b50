// SPDX-License-Identifier: Apache-2.0
// Factors and addends for each column after a dense layer are folded into its weights and bias: x W + b is linear in both. New weights are
// lazy (scale along an axis), new biases are computed in fp64 and rounded once. In stage combine, because the rules for attention (stage
// fuse) match the scale.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/channels.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_dense {
using namespace rewrite;
namespace {

/// y = x (w * factor) + bias
struct Dense {
  ValueId x, weight;
  Numbers factor, bias;
  bool has_bias = false;
};

/// The product with constant weights, and a constant bias where one follows, that makes `value`.
/// One number a column, zeros where there is no bias.
bool read_bias(Match& m, ValueId bias, int64_t columns, Dense& found) {
  found.bias.assign(columns, 0);
  found.has_bias = static_cast<bool>(bias);
  if (!bias) return true;
  const auto numbers = m.rank(bias) == 1 ? vector_of(m, bias, columns) : std::nullopt;
  if (numbers) found.bias = *numbers;
  return static_cast<bool>(numbers);
}

bool dense_before(Match& m, ValueId value, Dense& found) {
  const NodeId add = m.take(value, "Add");
  ValueId product = value, bias;
  if (add) {
    const size_t constant = m.is_constant(m.operand(add, 1)) ? 1 : 0;
    bias = m.operand(add, constant);
    product = m.operand(add, 1 - constant);
  }
  const NodeId matmul = m.take(product, "MatMul");
  if (!matmul || m.dtype(value) != DType::f32 || !m.same_type(product, value)) return false;
  found.x = m.operand(matmul, 0);
  found.weight = m.operand(matmul, 1);
  if (m.use_count(found.weight) != 1) return m.refuse("the weights have another user");
  const DimList* shape = m.shape(found.weight);
  if (!m.is_constant(found.weight) || !shape || shape->size() != 2) return false;
  return read_bias(m, bias, (*shape)[1].value(), found);
}

void follow(Dense& found, const ChannelMap& map) {
  found.factor = map.factor;
  for (size_t c = 0; c < found.bias.size(); ++c) found.bias[c] = found.bias[c] * map.factor[c] + map.bias[c];
}

/// Channels of BatchNormalization are axis 1: the columns of a matrix.
bool batch_norm(Match& m) {
  Dense found;
  const ValueId value = m.operand(m.root(), 0);
  if (m.rank(value) != 2 || !dense_before(m, value, found)) return false;
  const auto map = batch_norm_map(m, m.root(), static_cast<int64_t>(found.bias.size()));
  if (!map) return m.refuse("the statistics are not constant, or not finite");
  follow(found, *map);
  found.has_bias = true;
  return m.accept(std::move(found));
}

/// One number for all columns, or a vector of one for each.
std::optional<Numbers> factors_of(const Match& m, ValueId value, size_t columns) {
  const auto rank = m.rank(value);
  if (!m.is_constant(value) || !rank || *rank > 1) return std::nullopt;
  if (const auto number = m.number(value)) return Numbers(columns, *number);
  return vector_of(m, value, static_cast<int64_t>(columns));
}

bool factor(Match& m) {
  Dense found;
  const size_t side = m.is_constant(m.operand(m.root(), 0)) ? 1 : 0;
  const ValueId value = m.operand(m.root(), side);
  if (!m.same_type(value, m.result(m.root())) || !dense_before(m, value, found)) return false;
  const auto factors = factors_of(m, m.operand(m.root(), 1 - side), found.bias.size());
  if (!factors) return false;
  follow(found, {*factors, Numbers(factors->size(), 0)});
  return m.accept(std::move(found));
}

bool fold_in(const Match& m, Rewriter& w) {
  const Dense& found = m.state<Dense>();
  ValueId y = w("MatMul", {found.x, scaled_weight(m, w, found.weight, found.factor, 1)});
  if (found.has_bias) y = w("Add", {y, vector_constant(w, found.bias)});
  return replace_root(m, w, y);
}

}  // namespace

RULES(combine_dense) {
    .rules =
        {
            {.name = "dense_batch_norm",
             .docs = "BatchNormalization after a dense layer goes into its weights and bias",
             .roots = "BatchNormalization",
             .match = batch_norm,
             .rewrite = fold_in,
             .numerics = Numerics::reassociating,
             .benefit = 6},
            {.name = "dense_factor",
             .docs = "a constant factor, or one a column, after a dense layer goes into its weights and bias",
             .roots = "Mul",
             .match = factor,
             .rewrite = fold_in,
             .numerics = Numerics::reassociating,
             .benefit = 5},
        },
};

}  // namespace tenon::rules::combine_dense
