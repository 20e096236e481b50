// SPDX-License-Identifier: Apache-2.0
#include "codegen/tile/scalar.h"

namespace tenon::codegen {

std::string_view name_of(TileOp op) {
  static constexpr std::string_view names[] = {"constant", "size",      "task_begin", "task_end", "iota",       "splat", "expr",
                                               "fma",      "dot",       "pair",       "reduce",   "first_mask", "load",  "store",
                                               "prefetch", "transpose", "loop",       "branch",   "contract"};
  static_assert(std::size(names) == static_cast<size_t>(TileOp::contract) + 1);
  return names[static_cast<size_t>(op)];
}

std::string_view name_of(ops::Combine combine) {
  static constexpr std::string_view names[] = {"none", "sum", "product", "min", "max", "logical_and", "logical_or"};
  static_assert(std::size(names) == static_cast<size_t>(ops::Combine::logical_or) + 1);
  return names[static_cast<size_t>(combine)];
}

int chain_count(int rows, int vectors) {
  const int sums = rows * vectors;
  return 4 * sums <= kSumsInFlight ? 4 : 2 * sums <= kSumsInFlight ? 2 : 1;
}

int chain_count(const Contract& contract) { return contract.in_order ? 1 : chain_count(contract.rows, contract.vectors); }

int products_per_instruction(DType a, DType b, DType accumulator) {
  if (a == DType::bf16 && b == DType::bf16 && accumulator == DType::f32) return 2;
  if (a == DType::u8 && b == DType::i8 && accumulator == DType::i32) return 4;
  return 1;
}

int operands_of(ExprOp op) {
  if (op < ExprOp::neg) return 0;
  if (op <= ExprOp::cast) return 1;
  return op == ExprOp::select ? 3 : 2;
}

bool is_tile_element(DType dtype) {
  return is_arithmetic_float(dtype) || dtype == DType::f8e4m3fn || dtype == DType::boolean || (is_integer(dtype) && bits_of(dtype) >= 8);
}

bool is_defined(ExprOp op, DType d) {
  if (!is_tile_element(d) || operands_of(op) == 0) return false;
  if (d == DType::f8e4m3fn) return op == ExprOp::cast;
  const bool real = is_arithmetic_float(d), boolean = d == DType::boolean;
  if (op >= ExprOp::sqrt && op <= ExprOp::is_inf) return real;
  switch (op) {
    case ExprOp::logical_not:
    case ExprOp::logical_and:
    case ExprOp::logical_or:
    case ExprOp::logical_xor: return boolean;
    case ExprOp::bit_not:
    case ExprOp::bit_and:
    case ExprOp::bit_or:
    case ExprOp::bit_xor: return !real;
    case ExprOp::shift_left:
    case ExprOp::shift_right: return !real && !boolean;
    case ExprOp::cast:
    case ExprOp::select:
    case ExprOp::equal:
    case ExprOp::less:
    case ExprOp::less_equal:
    case ExprOp::min:
    case ExprOp::max: return true;
    default: return !boolean;
  }
}

}  // namespace tenon::codegen
