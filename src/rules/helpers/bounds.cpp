// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/bounds.h"

#include <algorithm>
#include <cmath>

#include "rewrite/verify/element_source.h"

namespace tenon::rules {
using namespace rewrite;
namespace {

Bounds united(const Bounds& a, const Bounds& b) {
  return a && b ? Bounds({std::min(a->first, b->first), std::max(a->second, b->second)}) : std::nullopt;
}

/// Bounds as stored in the dtype: a bound that may round to an infinity becomes infinite.
Bounds stored(Bounds bounds, DType dtype) {
  if (!bounds || std::isnan(bounds->first) || std::isnan(bounds->second)) return std::nullopt;
  const double largest = largest_of(dtype);
  if (bounds->first < -largest) bounds->first = -INFINITY;
  if (bounds->second > largest) bounds->second = INFINITY;
  return bounds;
}

Bounds bounds_of_constant(const Tensor* t) {
  if (!t || !is_float(t->dtype()) || t->count() == 0) return std::nullopt;
  double low = INFINITY, high = -INFINITY;
  for (int64_t i = 0; i < t->count(); ++i) {
    const double v = t->number(i);
    if (std::isnan(v)) return std::nullopt;
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return Bounds({low, high});
}

Bounds product_of(const Bounds& a, const Bounds& b) {
  if (!a || !b) return std::nullopt;
  const double corners[] = {a->first * b->first, a->first * b->second, a->second * b->first, a->second * b->second};
  for (double c : corners)
    if (std::isnan(c)) return std::nullopt;
  return Bounds({*std::ranges::min_element(corners), *std::ranges::max_element(corners)});
}

Bounds bounds_of(const GraphQuery& query, ValueId value, int depth);

/// The bounds of a sum or a difference.
Bounds sum_of(const Bounds& a, const Bounds& b, bool adds) {
  if (!a || !b) return std::nullopt;
  return Bounds({a->first + (adds ? b->first : -b->second), a->second + (adds ? b->second : -b->first)});
}

Bounds bounds_of_cast(const GraphQuery& query, ValueId from, int depth) {
  const DType dtype = query.dtype(from);
  if (dtype == DType::boolean) return Bounds({0, 1});
  if (is_integer(dtype)) return Bounds({is_signed(dtype) ? -std::ldexp(1, bits_of(dtype) - 1) : 0, std::ldexp(1, bits_of(dtype))});
  return is_float(dtype) ? bounds_of(query, from, depth) : std::nullopt;
}

bool moves_elements(const Node& node) {
  constexpr std::string_view kOps[] = {"Expand", "Reshape", "Unsqueeze", "Squeeze", "Slice", "Transpose", "Identity", "Gather"};
  return std::ranges::any_of(kOps, [&](std::string_view op) { return node.is(op); });
}

Bounds bounds_of(const GraphQuery& query, ValueId value, int depth) {
  if (!value || depth == 0) return std::nullopt;
  if (query.is_constant(value)) return bounds_of_constant(query.graph().tensor_of(value, 64 << 20));
  const NodeId node = query.producer(value);
  if (!node) return std::nullopt;
  const Node& n = query.node(node);
  const auto operand = [&](size_t i) { return bounds_of(query, query.operand(node, i), depth - 1); };
  if (n.is("Where")) return united(operand(1), operand(2));
  if (n.is("Add") || n.is("Sub")) return stored(sum_of(operand(0), operand(1), n.is("Add")), query.dtype(value));
  if (n.is("Mul")) return stored(product_of(operand(0), operand(1)), query.dtype(value));
  if (n.is("Cast")) return stored(bounds_of_cast(query, query.operand(node, 0), depth - 1), query.dtype(value));
  return moves_elements(n) ? operand(0) : std::nullopt;
}

}  // namespace

Bounds bounds_of(const GraphQuery& query, ValueId value) { return bounds_of(query, value, 12); }

}  // namespace tenon::rules
