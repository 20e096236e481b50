// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/combine.h"

#include <limits>

namespace tenon::codegen {

using ops::Combine;

ExprOp operator_of(Combine combine) {
  switch (combine) {
    case Combine::sum: return ExprOp::add;
    case Combine::product: return ExprOp::mul;
    case Combine::min: return ExprOp::min;
    case Combine::max: return ExprOp::max;
    case Combine::logical_and: return ExprOp::logical_and;
    case Combine::logical_or: return ExprOp::logical_or;
    case Combine::none: break;
  }
  TENON_ASSERT(false);
}

ExprNode identity_of(Combine combine, DType dtype) {
  ExprNode n;
  n.dtype = dtype;
  const bool real = is_float(dtype);
  const int bits = dtype == DType::boolean ? 1 : bits_of(dtype);
  const bool negative = is_signed(dtype);
  const int64_t highest = real         ? 0
                          : bits >= 64 ? (negative ? std::numeric_limits<int64_t>::max() : -1)
                                       : (int64_t{1} << (bits - (negative ? 1 : 0))) - 1;
  const int64_t lowest = real || !negative ? 0 : bits >= 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (bits - 1));
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine) {
    case Combine::product: n.float_value = 1, n.int_value = 1; break;
    case Combine::min: n.float_value = infinity, n.int_value = highest; break;
    case Combine::max: n.float_value = -infinity, n.int_value = lowest; break;
    case Combine::logical_and: n.int_value = 1; break;
    default: break;
  }
  return n;
}

}  // namespace tenon::codegen
