// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/constant_masks.h"

#include <cstring>
#include <optional>

#include "codegen/analysis/inline_nest.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/analysis/places.h"
#include "codegen/analysis/visible_keys.h"

namespace tenon::codegen {

namespace {

/// The elements of a constant mask. by_query, by_key: strides in elements.
struct Matrix {
  Tensor tensor;
  int64_t queries, keys, offset, by_query, by_key;

  int64_t at(int64_t query, int64_t key) const { return offset + query * by_query + key * by_key; }
};

std::optional<Matrix> matrix_of(const NestAccess& access, const Nest& nest, const Plan& plan) {
  const ir::ConstantRef constant = plan.arrays[access.array].constant;
  if (!constant || access.within) return std::nullopt;
  const auto place = affine_of(flat_of(access, plan), kAttentionAxes);
  const Dim queries = nest.axes[kQuery].extent, keys = nest.axes[kKey].extent;
  if (!place || !place->offset.is_number() || !queries.is_number() || !keys.is_number()) return std::nullopt;
  for (int axis = 0; axis < kAttentionAxes; ++axis) {
    const bool may_move = axis == kQuery || axis == kKey;
    if (may_move ? !place->coefficients[axis].is_number() : !(place->coefficients[axis] == Dim(0))) return std::nullopt;
  }
  auto tensor = ir::materialise(*constant);
  if (!tensor) return std::nullopt;
  return Matrix{std::move(*tensor),
                queries.value(),
                keys.value(),
                place->offset.value(),
                place->coefficients[kQuery].value(),
                place->coefficients[kKey].value()};
}

/// The condition under which is_shown(element number) holds, as a comparison of positions: true, or key <= query + distance. Null: there is
/// no such condition.
template <class IsShown>
Expr condition_on_distance(const Matrix& m, IsShown is_shown) {
  std::optional<int64_t> max_distance;
  for (int64_t q = 0; q < m.queries && !max_distance; ++q)
    for (int64_t k = 0; k < m.keys && !max_distance; ++k)
      if (!is_shown(m.at(q, k))) max_distance = k - 1 - q;
  if (!max_distance) return Expr::integer(DType::boolean, 1);
  for (int64_t q = 0; q < m.queries; ++q)
    for (int64_t k = 0; k < m.keys; ++k)
      if (is_shown(m.at(q, k)) != (k - q <= *max_distance)) return {};
  return Expr::axis(kKey) <= Expr::axis(kQuery) + Expr::integer(DType::i64, *max_distance);
}

/// The mask as an expression over positions; null where it is none.
Expr condition_of(const Matrix& m) {
  const std::byte* bytes = m.tensor.data();
  if (m.tensor.dtype() == DType::boolean) return condition_on_distance(m, [&](int64_t at) { return bytes[at] != std::byte(0); });
  if (m.tensor.dtype() != DType::f32) return {};
  const auto number = [&](int64_t at) {
    float x = 0;
    std::memcpy(&x, bytes + at * int64_t{sizeof x}, sizeof x);
    return x;
  };
  float hidden = 0;
  for (int64_t q = 0; q < m.queries; ++q)
    for (int64_t k = 0; k < m.keys; ++k) {
      const float x = number(m.at(q, k));
      if (x == 0) continue;
      if (!(x <= kHiddenScore) || (hidden != 0 && x != hidden)) return {};
      hidden = x;
    }
  const Expr shown = condition_on_distance(m, [&](int64_t at) { return number(at) == 0; });
  return shown ? simplify(select(shown, Expr::constant(DType::f32, 0), Expr::constant(DType::f32, hidden))) : Expr();
}

}  // namespace

void simplify_constant_masks(Nest& attention, int& value_scale, const Plan& plan) {
  for (size_t k = attention.accesses.size(); k-- > 3;) {
    const auto matrix = matrix_of(attention.accesses[k], attention, plan);
    const Expr condition = matrix ? condition_of(*matrix) : Expr();
    if (!condition) continue;
    attention.accesses.erase(attention.accesses.begin() + static_cast<ptrdiff_t>(k));
    const int removed = static_cast<int>(k);
    rewrite(attention, [&](const ExprNode& n) -> Expr {
      if (n.op != ExprOp::input || n.index < removed) return {};
      return n.index == removed ? condition : Expr::input(n.index - 1, n.dtype);
    });
    attention.outputs[0].value = simplify(attention.outputs[0].value);
    if (value_scale > removed) --value_scale;
  }
}

}  // namespace tenon::codegen
