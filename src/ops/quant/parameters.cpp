// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/parameters.h"

#include <algorithm>
#include <cmath>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops {

bool is_byte(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

Expr load_parameter(Loop& loop, const NodeView& view, size_t input, Side side, const DimList& shape, int m, int n) {
  const DimList& own = *view.type(input).shape;
  const int axis = side == Side::rows ? m : n;
  if (own.size() == 1 && axis >= 0 && !own[0].known_equal(1)) {
    return load(loop, operand_access(view, input, {broadcast_index(own, {shape[axis]}, axis)[0]}));
  }
  if (own.size() <= shape.size()) return load(loop, operand_access(view, input, broadcast_index(own, shape)));
  return load(loop, operand_access(view, input, std::vector<Expr>(own.size(), index_constant(0))));
}

Result<void> require_parameter(const NodeView& view, size_t input, Side side, const DimList& shape) {
  if (!view.has(input) || !view.type(input).has_rank() || view.type(input).count() == Dim(1)) return {};
  if (view.rank(input) != 1) return require_broadcastable(view, input, shape);
  const size_t axis = side == Side::rows ? std::max<size_t>(shape.size(), 2) - 2 : shape.size() - 1;
  if (axis < shape.size())
    return require_broadcastable(view, view.type(input).dim(0), shape[axis],
                                 "sizes of operand " + std::to_string(input) + " and its rows or columns");
  return require_single_element(view, input);
}

double parameter_at(const Tensor& t, Side side, const Sizes& at, const Sizes& shape) {
  if (t.count() == 1) return t.number(0);
  if (t.rank() == 1) return t.number(at[side == Side::rows ? std::max<size_t>(at.size(), 2) - 2 : at.size() - 1]);
  return t.number(offset_of(at, broadcast_strides(t.shape(), shape)));
}

Expr requantized(Expr value, Expr zero_point, DType dtype) {
  const DType wide = value.dtype();
  return cast(unary(ExprOp::round_even, std::move(value)) + cast(std::move(zero_point), wide), dtype);
}

double requantized(double value, double zero_point, DType dtype) {
  const double low = dtype == DType::i8 ? -128 : 0, high = dtype == DType::i8 ? 127 : 255;
  return std::clamp(std::nearbyint(value) + zero_point, low, high);
}

}  // namespace tenon::ops
