// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/norms.h"

#include <cmath>

#include "rules/helpers/casts.h"

namespace tenon::rules {

using ir::NodeId;
using ir::ValueId;
using rewrite::Match;
using rewrite::Rewriter;

namespace {

/// Scales up to this many elements are written down.
constexpr int64_t kLargestScale = 1 << 20;

/// The first of the last axes, whose mean `value` is; no axis may be missing after it.
std::optional<int64_t> mean_axis(const Match& m, NodeId mean) {
  const auto rank = m.rank(m.operand(mean, 0));
  auto axes = m.ints(m.operand(mean, 1));
  if (!rank || !axes || axes->empty() || m.node(mean).attributes.integer("keepdims", 1) != 1) return std::nullopt;
  for (int64_t& axis : *axes) axis += axis < 0 ? *rank : 0;
  std::ranges::sort(*axes);
  for (size_t i = 0; i < axes->size(); ++i)
    if ((*axes)[i] != *rank - static_cast<int64_t>(axes->size() - i)) return std::nullopt;
  return axes->front();
}

/// The operand of the mean that `value` is, over the axes from `axis` on; sets `axis`.
ValueId mean_of(Match& m, ValueId value, int64_t& axis) {
  const NodeId mean = m.take(value, "ReduceMean");
  const auto found = mean ? mean_axis(m, mean) : std::nullopt;
  if (!found) return {};
  axis = *found;
  return m.operand(mean, 0);
}

/// x of x * x.
ValueId root_of(Match& m, ValueId square) {
  if (const NodeId pow = m.take(square, "Pow")) return m.is_number(m.operand(pow, 1), 2) ? m.operand(pow, 0) : ValueId{};
  const NodeId mul = m.take(square, "Mul");
  return mul && m.operand(mul, 0) == m.operand(mul, 1) ? m.operand(mul, 0) : ValueId{};
}

/// x, where `deviation` is sqrt(mean(x^2) + epsilon); sets epsilon (0 where it is not added).
ValueId spread_of(Match& m, ValueId deviation, UnscaledNorm& found) {
  const NodeId sqrt = m.take(deviation, "Sqrt");
  ValueId mean = sqrt ? m.operand(sqrt, 0) : ValueId{};
  if (const NodeId add = mean ? m.take(mean, "Add") : NodeId{}) {
    const size_t side = m.is_constant(m.operand(add, 1)) ? 1 : 0;
    const auto number = m.is_constant(m.operand(add, side)) ? m.number(m.operand(add, side)) : std::nullopt;
    if (!number || !std::isfinite(*number)) return {};
    found.epsilon = *number;
    mean = m.operand(add, 1 - side);
  }
  const ValueId square = mean ? mean_of(m, mean, found.axis) : ValueId{};
  return square ? root_of(m, square) : ValueId{};
}

/// The deviation that `factor` is the reciprocal of.
ValueId reciprocal_of(Match& m, ValueId factor) {
  if (const NodeId reciprocal = m.take(factor, "Reciprocal")) return m.operand(reciprocal, 0);
  const NodeId div = m.producer(factor, "Div");
  if (!div || !m.is_number(m.operand(div, 0), 1)) return {};
  m.take(div);
  return m.operand(div, 1);
}

/// The norm that the root is, where `x` is divided by `deviation`.
bool divided(Match& m, ValueId x, ValueId deviation, UnscaledNorm& found) {
  if (spread_of(m, deviation, found) != x || !m.same_type(x, m.result(m.root()))) return false;
  const NodeId sub = m.producer(x, "Sub");
  const NodeId mean = sub ? m.producer(m.operand(sub, 1), "ReduceMean") : NodeId{};
  found.centred = mean && m.operand(mean, 0) == m.operand(sub, 0);
  if (found.centred) {
    int64_t axis = 0;
    if (!mean_of(m, m.operand(sub, 1), axis) || axis != found.axis) return m.refuse("mean and deviation are taken along other axes");
    m.take(sub);
  }
  found.x = found.centred ? m.operand(sub, 0) : x;
  if (!m.shape(found.x) || !is_arithmetic_float(m.dtype(found.x))) return false;
  return fits_attribute(found.epsilon, m.dtype(found.x)) || m.refuse("epsilon has more digits than an attribute");
}

}  // namespace

std::optional<UnscaledNorm> match_unscaled_norm(Match& m) {
  UnscaledNorm found;
  if (m.node(m.root()).is("Div") && divided(m, m.operand(m.root(), 0), m.operand(m.root(), 1), found)) return found;
  if (!m.node(m.root()).is("Mul")) return std::nullopt;
  for (size_t side : {0, 1}) {
    m.nodes = {m.root()};
    found = {};
    const ValueId deviation = reciprocal_of(m, m.operand(m.root(), side));
    found.inverse = m.operand(m.root(), side);
    if (deviation && divided(m, m.operand(m.root(), 1 - side), deviation, found)) return found;
  }
  return std::nullopt;
}

ValueId unit_scale(const Match& m, Rewriter& w, const UnscaledNorm& norm) {
  const DimList& shape = *m.shape(norm.x);
  Sizes sizes;
  int64_t count = 1;
  for (size_t i = norm.axis; i < shape.size() && count > 0; ++i) {
    const int64_t size = shape[i].is_number() ? shape[i].value() : -1;
    count = size < 0 || size > kLargestScale / std::max<int64_t>(count, 1) ? -1 : count * size;
    sizes.push_back(size);
  }
  auto ones = Tensor::make(m.dtype(norm.x), count > 0 ? sizes : Sizes{1});
  if (!ones) return {};
  for (int64_t i = 0; i < ones->count(); ++i) ones->set_number(i, 1);
  if (count > 0) return w.constant(std::move(*ones));
  return w("ConstantOfShape", {w("Shape", {norm.x}, {{"start", norm.axis - static_cast<int64_t>(shape.size())}})},
           {{"value", std::move(*ones)}});
}

}  // namespace tenon::rules
