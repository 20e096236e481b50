// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/operand_access.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

Expr zero_of(DType dtype) { return is_float(dtype) ? Expr::constant(dtype, 0) : Expr::integer(dtype, 0); }

using Leaf = std::function<Expr(const ExprNode&)>;

/// The load with its axes replaced by `place`. Where `fits` (may be null) is false, nothing is read and the value is 0.
NestAccess moved(NestAccess read, const Leaf& place, const Expr& fits) {
  for (Expr& e : read.index) e = simplify(substitute(e, place));
  if (read.flat) read.flat = simplify(substitute(read.flat, place));
  if (read.within) read.within = substitute(read.within, place);
  if (read.fill) read.fill = substitute(read.fill, place);
  if (fits) read.within = read.within ? logical_and(read.within, fits) : fits;
  if (read.within && !read.fill) read.fill = zero_of(read.dtype);
  return read;
}

}  // namespace

Expr zero_index() { return Expr::integer(DType::i64, 0); }

std::optional<std::vector<int>> dense_order(const Affine& place, const Nest& nest, const Sizes& shape) {
  std::vector<int> order;
  int64_t total = 1, count = 1;
  for (int64_t s : shape) total *= s;
  for (size_t x = 0; x < nest.axes.size(); ++x) {
    if (place.coefficients[x] == Dim(0) || nest.axes[x].extent == Dim(1)) continue;
    if (!place.coefficients[x].is_number() || !nest.axes[x].extent.is_number()) return std::nullopt;
    order.push_back(static_cast<int>(x));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) { return place.coefficients[a].value() > place.coefficients[b].value(); });
  for (size_t k = order.size(); k-- > 0;) {
    if (place.coefficients[order[k]].value() != count) return std::nullopt;
    count *= nest.axes[order[k]].extent.value();
  }
  return place.offset == Dim(0) && count == total ? std::optional(order) : std::nullopt;
}

Expr moved_operand(const Nest& nest, const ContractOperand& operand, const Leaf& place, const Expr& fits, Nest& copy) {
  for (const int k : operand.accesses) copy.accesses.push_back(moved(nest.accesses[k], place, fits));
  const auto own_number = [&](const ExprNode& n) {
    if (n.op != ExprOp::input) return Expr();
    const auto at = std::ranges::find(operand.accesses, static_cast<int>(n.index));
    return Expr::input(static_cast<int>(at - operand.accesses.begin()), n.dtype);
  };
  const Expr value = substitute(operand.value, own_number);
  return fits && !operand.is_load() ? select(fits, value, zero_of(value.dtype())) : value;
}

}  // namespace tenon::codegen
