// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/channels.h"

#include <algorithm>
#include <cmath>

namespace tenon::rules {

using rewrite::Match;
using rewrite::Rewriter;

std::optional<Numbers> vector_of(const Match& m, ir::ValueId value, int64_t channels) {
  if (!m.is_constant(value)) return std::nullopt;
  const Tensor* t = m.graph().tensor_of(value, /*byte_limit=*/1 << 24);
  if (!t || t->count() != channels) return std::nullopt;
  return numbers_of(*t);
}

std::optional<ChannelMap> batch_norm_map(const Match& m, ir::NodeId node, int64_t channels) {
  const auto& attributes = m.node(node).attributes;
  if (attributes.integer("training_mode", 0) != 0) return std::nullopt;
  const auto scale = vector_of(m, m.operand(node, 1), channels), bias = vector_of(m, m.operand(node, 2), channels);
  const auto mean = vector_of(m, m.operand(node, 3), channels), variance = vector_of(m, m.operand(node, 4), channels);
  if (!scale || !bias || !mean || !variance) return std::nullopt;
  const double epsilon = attributes.number("epsilon", 1e-5f);
  ChannelMap map;
  for (int64_t c = 0; c < channels; ++c) {
    map.factor.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
    map.bias.push_back((*bias)[c] - (*mean)[c] * map.factor[c]);
    if (!std::isfinite(map.factor[c]) || !std::isfinite(map.bias[c])) return std::nullopt;
  }
  return map;
}

ir::ValueId vector_constant(Rewriter& w, const Numbers& numbers) {
  auto t = Tensor::make(DType::f32, {static_cast<int64_t>(numbers.size())});
  if (!t) return {};
  store_numbers(*t, numbers);
  return w.constant(std::move(*t));
}

ir::ValueId scaled_weight(const Match& m, Rewriter& w, ir::ValueId weight, const Numbers& factor, int axis) {
  if (std::ranges::all_of(factor, [](double f) { return f == 1; })) return weight;
  auto vector = Tensor::make(DType::f32, {static_cast<int64_t>(factor.size())});
  if (!vector) return {};
  store_numbers(*vector, factor);
  return w.constant(ir::scale(m.value(weight).constant, ir::constant_of(std::move(*vector)), axis));
}

}  // namespace tenon::rules
