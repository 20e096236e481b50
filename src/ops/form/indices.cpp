// SPDX-License-Identifier: Apache-2.0
#include "ops/form/indices.h"

#include <algorithm>

namespace tenon::ops {

Expr cast_expr(Expr e, DType dtype) { return e.dtype() == dtype && !e->untyped ? e : cast(e, dtype); }

Expr size_expr(Dim size) { return size.is_number() ? index_constant(size.value()) : Expr::dim(size); }

std::vector<Expr> axis_indices(int count, int first) {
  std::vector<Expr> out;
  for (int i = 0; i < count; ++i) out.push_back(Expr::axis(first + i));
  return out;
}

std::vector<Expr> broadcast_index(const DimList& from, const DimList& to, int first) {
  std::vector<Expr> out;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t axis = i + to.size() - from.size();
    const Expr at = Expr::axis(first + static_cast<int>(axis));
    if (from[i] == Dim(1)) out.push_back(index_constant(0));
    else if (from[i].is_number() || from[i].known_equal(to[axis])) out.push_back(at);
    else out.push_back(at * Expr::dim(select(equal_to(from[i], 1), 0, 1)));
  }
  return out;
}

Expr wrapped_index(Expr loaded, Dim size) {
  const Expr i = cast_expr(loaded, DType::i64);
  return select(i < index_constant(0), i + size_expr(size), i);
}

Expr linear_index(std::span<const Expr> index, const DimList& shape) {
  Expr position;
  for (size_t i = 0; i < index.size(); ++i) position = position ? position * size_expr(shape[i]) + index[i] : index[i];
  return position ? position : index_constant(0);
}

std::vector<Expr> delinearized_index(Expr position, const DimList& shape) {
  std::vector<Expr> out(shape.size());
  Dim stride = 1;
  bool any = false;
  for (size_t k = shape.size(); k-- > 0;) {
    if (shape[k] == Dim(1)) {
      out[k] = index_constant(0);
      continue;
    }
    const Expr shifted = any ? position / size_expr(stride) : position;
    const bool outermost = std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(k), [](Dim d) { return d == Dim(1); });
    out[k] = outermost ? shifted : binary(ExprOp::mod, shifted, size_expr(shape[k]));
    stride = stride * shape[k];
    any = true;
  }
  return out;
}

std::vector<Expr> reshape_index(const DimList& from, const DimList& to) {
  std::vector<Expr> out;
  size_t i = 0, j = 0;
  while (i < from.size()) {
    if (j < to.size() && from[i].known_equal(to[j])) {
      out.push_back(Expr::axis(static_cast<int>(j)));
      ++i, ++j;
      continue;
    }
    // The shortest runs of both whose products are the same; where there is none, all that is left.
    size_t end_i = from.size(), end_j = to.size();
    for (size_t n = i + j + 1; n < from.size() + to.size() && end_i + end_j > n; ++n) {
      for (size_t a = i; a <= from.size() && a <= n; ++a) {
        const size_t b = n - a;
        if (b < j || b > to.size()) continue;
        const Dim p = product(DimList(from.begin() + static_cast<std::ptrdiff_t>(i), from.begin() + static_cast<std::ptrdiff_t>(a)));
        const Dim q = product(DimList(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(b)));
        if (!p.known_equal(q)) continue;
        end_i = a, end_j = b;
        break;
      }
    }
    const DimList group_to(to.begin() + static_cast<std::ptrdiff_t>(j), to.begin() + static_cast<std::ptrdiff_t>(end_j));
    const DimList group_from(from.begin() + static_cast<std::ptrdiff_t>(i), from.begin() + static_cast<std::ptrdiff_t>(end_i));
    const Expr position = linear_index(axis_indices(static_cast<int>(group_to.size()), static_cast<int>(j)), group_to);
    for (Expr& e : delinearized_index(position, group_from)) out.push_back(std::move(e));
    i = end_i, j = end_j;
  }
  return out;
}

DimList without_axes(const DimList& shape, std::span<const int> axes) {
  DimList out;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) out.push_back(shape[static_cast<size_t>(i)]);
  }
  return out;
}

}  // namespace tenon::ops
