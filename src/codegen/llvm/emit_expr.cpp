// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

#include <cmath>
#include <optional>

#include "codegen/llvm/architecture.h"
#include "codegen/llvm/vector.h"

namespace tenon::codegen::machine {
namespace {

using llvm::Intrinsic::ID;

bool half(DType d) { return d == DType::f16 || d == DType::bf16; }
llvm::Type* like(V a, llvm::Type* element) { return with_lanes(element, a.lanes()); }
V unary(ID id, V a) { return a.with(a.b->CreateUnaryIntrinsic(id, a.v)); }
V binary(ID id, V a, V b) { return a.with(a.b->CreateBinaryIntrinsic(id, a.v, b.v)); }

/// Casts floats to integers: clamps to the range, then truncates. (LLVM's own saturating casts take lanes of 8 and 16 bits one by one.)
V float_to_short_integer(V value, DType to) {
  const bool with_sign = is_signed(to);
  // Rounding is part of the conversion: it may follow the clamp, whose bounds are whole numbers.
  llvm::Value* before = nullptr;
  const bool rounded =
      value.width() == 32 &&
      llvm::PatternMatch::match(value.v, llvm::PatternMatch::m_Intrinsic<llvm::Intrinsic::roundeven>(llvm::PatternMatch::m_Value(before)));
  if (rounded) value = value.with(before);
  const double high = static_cast<double>((1 << (bits_of(to) - with_sign)) - 1), low = with_sign ? -high - 1 : 0;
  if (with_sign) value = select(is_nan(value), 0, value);
  value = select(less(value.splat(low), value), value, value.splat(low));  // 0 where it is NaN
  value = select(less(value, high), value, value.splat(high));
  llvm::Type* type = like(value, value.b->getInt32Ty());
  const V wide = value.with(rounded ? value.b->CreateIntrinsic(llvm::Intrinsic::lrint, {type, value.type()}, {value.v})
                                    : value.b->CreateFPToSI(value.v, type));
  return value.with(value.b->CreateTrunc(wide.v, like(value, value.b->getIntNTy(bits_of(to)))));
}

V float_to_integer(V value, DType to) {
  if (bits_of(to) < 32) return float_to_short_integer(value, to);
  Builder& b = *value.b;
  llvm::Type* type = like(value, b.getIntNTy(bits_of(to)));
  const ID id = is_signed(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return value.with(b.CreateIntrinsic(id, {type, value.type()}, {value.v}));
}

/// Rounds a 64-bit integer to odd at 2^11, so that f64 holds it and a later rounding to half of the bits or fewer is correct.
V odd_beyond_53_bits(V value, bool with_sign) {
  const V high = with_sign ? shift_right_signed(value, 53) : shift_right(value, 53);
  V fits = equal(high, value.splat_integer(0));
  if (with_sign) fits = fits | equal(high, value.splat_integer(-1));
  const V exact = equal(value & 0x7ff, value.splat_integer(0));
  const V odd = (value & ~int64_t{0x7ff}) | select(exact, value.splat_integer(0), value.splat_integer(0x800));
  return select(fits, value, odd);
}

V integer_to_float(V value, DType from, DType to) {
  Builder& b = *value.b;
  // f16 and bf16 go through f64, so that only one rounding happens
  if (half(to) && bits_of(from) == 64) value = odd_beyond_53_bits(value, is_signed(from));
  llvm::Type* type = like(value, to == DType::f32 ? b.getFloatTy() : b.getDoubleTy());
  const bool is_signed_int = is_signed(from) && from != DType::boolean;
  const V number = value.with(is_signed_int ? b.CreateSIToFP(value.v, type) : b.CreateUIToFP(value.v, type));
  return half(to) ? round_half(to, number) : number;
}

/// The minimum or maximum as minps and maxps compute it: b unless a is better, so b where either is NaN or both are zeros.
V better(V a, V b, bool larger) { return select(larger ? less(b, a) : less(a, b), a, b); }

std::optional<double> constant_of(V a) {
  const llvm::APFloat* number = nullptr;
  if (!llvm::PatternMatch::match(a.v, llvm::PatternMatch::m_APFloat(number)) || number->isNaN()) return std::nullopt;
  return a.width() == 32 ? number->convertToFloat() : number->convertToDouble();
}

/// The zero that is the result for any two zeros: -0 of a minimum, +0 of a maximum.
bool is_best_zero(double c, bool larger) { return c == 0 && std::signbit(c) != larger; }

V extreme_of_constant(V x, V constant, double c, bool larger) {
  if (!is_best_zero(c, larger)) return better(constant, x, larger);
  const V beaten = x.with(larger ? x.b->CreateFCmpOLE(x.v, constant.v) : x.b->CreateFCmpOGE(x.v, constant.v));
  return select(beaten, constant, x);
}

/// minimum and maximum of IEEE 754-2019 (base/scalar.h). Both orders of operands give the same bits but for zeros of two signs and NaN,
/// and there one of them gives a and the other b.
V float_extreme(V a, V b, bool larger) {
  if (const auto c = constant_of(b)) return extreme_of_constant(a, b, *c, larger);
  if (const auto c = constant_of(a)) return extreme_of_constant(b, a, *c, larger);
  const V one = to_bits(better(a, b, larger)), other = to_bits(better(b, a, larger));
  const V either = from_bits(one | other);  // of zeros -0, of NaN and a number NaN
  return larger ? either - from_bits(one ^ other) : either;
}

V float_sign(V x) {
  const V one = select(greater(x, 0), 1.0, x);
  return select(less(x, 0), -1.0, one);
}

V float_operator(const Target& target, ExprOp op, llvm::ArrayRef<V> args) {
  const V a = args[0];
  switch (op) {
    case ExprOp::neg: return -a;
    case ExprOp::abs: return abs(a);
    case ExprOp::sign: return float_sign(a);
    case ExprOp::floor: return floor(a);
    case ExprOp::ceil: return unary(llvm::Intrinsic::ceil, a);
    case ExprOp::round_even: return round_even(a);
    case ExprOp::trunc: return trunc(a);
    case ExprOp::sqrt: return sqrt(a);
    case ExprOp::reciprocal: return a.splat(1.0) / a;
    case ExprOp::is_nan: return is_nan(a);
    case ExprOp::is_inf: return equal(abs(a), std::numeric_limits<double>::infinity());
    case ExprOp::add: return a + args[1];
    case ExprOp::sub: return a - args[1];
    case ExprOp::mul: return a * args[1];
    case ExprOp::div: return a / args[1];
    case ExprOp::rem: return emit_fmod(a, args[1]);
    case ExprOp::mod: {
      const V r = emit_fmod(a, args[1]);
      const V apart = (less(r, 0) ^ less(args[1], 0)) & !equal(r, 0.0) & !is_nan(r);
      return select(apart, r + args[1], r);
    }
    case ExprOp::pow: return emit_pow(target, a, args[1]);
    case ExprOp::min: return float_extreme(a, args[1], false);
    case ExprOp::max: return float_extreme(a, args[1], true);
    case ExprOp::equal: return equal(a, args[1]);
    case ExprOp::less: return less(a, args[1]);
    case ExprOp::less_equal: return a.with(a.b->CreateFCmpOLE(a.v, args[1].v));
    default: return emit_function(target, op, a);
  }
}

struct Divided {
  V quotient, remainder;
};

/// Never traps: a divisor of 0, and of -1 under the smallest number, is replaced by 1. Vector division of 8 to 32 bits goes through
/// floats that hold every quotient; 64 bits go lane by lane.
Divided divide(DType d, V a, V b) {
  Builder& builder = *a.b;
  const V zero = equal(b, b.splat_integer(0));
  V unsafe = zero;
  if (is_signed(d)) unsafe = unsafe | equal(b, b.splat_integer(-1));
  const V by = select(unsafe, b.splat_integer(1), b);
  V q = a, r = a.splat_integer(0);
  const int width = a.width();
  if (width <= 32 && a.lanes() > 1) {
    llvm::Type* wide = like(a, width <= 16 ? builder.getFloatTy() : builder.getDoubleTy());
    auto convert = [&](V x) { return a.with(is_signed(d) ? builder.CreateSIToFP(x.v, wide) : builder.CreateUIToFP(x.v, wide)); };
    const V ratio = convert(a) / convert(by);
    q = a.with(is_signed(d) ? builder.CreateFPToSI(ratio.v, a.type()) : builder.CreateFPToUI(ratio.v, a.type()));
  } else {
    q = a.with(is_signed(d) ? builder.CreateSDiv(a.v, by.v) : builder.CreateUDiv(a.v, by.v));
  }
  r = a - q * by;
  if (is_signed(d)) q = select(equal(b, b.splat_integer(-1)), -a, q);
  return {select(zero, a.splat_integer(0), q), select(zero, a.splat_integer(0), r)};
}

V integer_mod(DType d, V a, V b) {
  const V r = divide(d, a, b).remainder;
  if (!is_signed(d)) return r;
  const V apart = less(r ^ b, r.splat_integer(0)) & !equal(r, r.splat_integer(0));
  return select(apart, r + b, r);
}

/// Integer powers by squaring and multiplying, one step for each bit of the largest exponent.
V integer_pow(DType d, V base, V exponent) {
  Builder& b = *base.b;
  llvm::Function* f = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* round = llvm::BasicBlock::Create(b.getContext(), "power", f);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b.getContext(), "powered", f);
  b.CreateBr(round);
  b.SetInsertPoint(round);
  auto phi = [&](V from) {
    llvm::PHINode* p = b.CreatePHI(from.type(), 2);
    p->addIncoming(from.v, before);
    return base.with(p);
  };
  const V result = phi(base.splat_integer(1)), square = phi(base), left = phi(exponent);
  const V next = select(equal(left & 1, left.splat_integer(0)), result, result * square);
  const V next_square = square * square, next_left = shift_right(left, 1);
  const V more = any(!equal(next_left, left.splat_integer(0)));
  llvm::cast<llvm::PHINode>(result.v)->addIncoming(next.v, round);
  llvm::cast<llvm::PHINode>(square.v)->addIncoming(next_square.v, round);
  llvm::cast<llvm::PHINode>(left.v)->addIncoming(next_left.v, round);
  b.CreateCondBr(more.v, round, done);
  b.SetInsertPoint(done);
  if (!is_signed(d)) return next;
  const V odd = equal(exponent & 1, exponent.splat_integer(1));
  const V of_minus_one = select(odd, base.splat_integer(-1), base.splat_integer(1));
  const V inverse =
      select(equal(base, base.splat_integer(1)), base, select(equal(base, base.splat_integer(-1)), of_minus_one, base.splat_integer(0)));
  return select(less(exponent, exponent.splat_integer(0)), inverse, next);
}

V integer_shift(DType d, ExprOp op, V a, V by) {
  Builder& b = *a.b;
  const V over = a.with(b.CreateICmpUGE(by.v, by.splat_integer(a.width()).v));
  const bool keeps_sign = op == ExprOp::shift_right && is_signed(d);
  const V amount = select(over, by.splat_integer(keeps_sign ? a.width() - 1 : 0), by);
  if (keeps_sign) return a.with(b.CreateAShr(a.v, amount.v));
  const V shifted = a.with(op == ExprOp::shift_left ? b.CreateShl(a.v, amount.v) : b.CreateLShr(a.v, amount.v));
  return select(over, a.splat_integer(0), shifted);
}

V integer_less(DType d, V a, V b) { return is_signed(d) ? less(a, b) : a.with(a.b->CreateICmpULT(a.v, b.v)); }

V integer_sign(DType d, V a) {
  const V zero = a.splat_integer(0);
  const V some = select(equal(a, zero), zero, a.splat_integer(1));
  return is_signed(d) ? select(less(a, zero), a.splat_integer(-1), some) : some;
}

V integer_unary(ExprOp op, DType d, V a) {
  switch (op) {
    case ExprOp::neg: return -a;
    case ExprOp::abs: return is_signed(d) ? select(less(a, a.splat_integer(0)), -a, a) : a;
    case ExprOp::sign: return integer_sign(d, a);
    case ExprOp::bit_not:
    case ExprOp::logical_not: return !a;
    default: return a;  // floor, ceil, round_even, trunc
  }
}

V integer_operator(ExprOp op, DType d, llvm::ArrayRef<V> args) {
  const V a = args[0];
  if (args.size() == 1) return integer_unary(op, d, a);
  const V b = args[1];
  switch (op) {
    case ExprOp::add: return a + b;
    case ExprOp::sub: return a - b;
    case ExprOp::mul: return a * b;
    case ExprOp::div: return divide(d, a, b).quotient;
    case ExprOp::rem: return divide(d, a, b).remainder;
    case ExprOp::mod: return integer_mod(d, a, b);
    case ExprOp::pow: return integer_pow(d, a, b);
    case ExprOp::min: return binary(is_signed(d) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case ExprOp::max: return binary(is_signed(d) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case ExprOp::bit_and:
    case ExprOp::logical_and: return a & b;
    case ExprOp::bit_or:
    case ExprOp::logical_or: return a | b;
    case ExprOp::bit_xor:
    case ExprOp::logical_xor: return a ^ b;
    case ExprOp::shift_left:
    case ExprOp::shift_right: return integer_shift(d, op, a, b);
    case ExprOp::equal: return equal(a, b);
    case ExprOp::less: return integer_less(d, a, b);
    default: return !integer_less(d, b, a);  // less_equal
  }
}

}  // namespace

V emit_cast(V value, DType from, DType to) {
  Builder& b = *value.b;
  if (from == to) return value;
  if (half(from)) return emit_cast(widen_half(from, value), DType::f32, to);
  if (from == DType::f8e4m3fn) return emit_cast(widen_f8(value), DType::f32, to);
  if (to == DType::f8e4m3fn) return round_f8(emit_cast(value, from, from == DType::f64 ? DType::f64 : DType::f32));
  if (is_arithmetic_float(from)) {
    if (to == DType::boolean) return value.with(b.CreateFCmpUNE(value.v, value.splat(0).v));
    if (half(to)) return round_half(to, value);
    if (to == DType::f32) return to_f32(value);
    return to == DType::f64 ? to_f64(value) : float_to_integer(value, to);
  }
  if (to == DType::boolean) return !equal(value, value.splat_integer(0));
  if (is_arithmetic_float(to)) return integer_to_float(value, from, to);
  llvm::Type* type = like(value, b.getIntNTy(bits_of(to)));
  return value.with(is_signed(from) && from != DType::boolean ? b.CreateSExtOrTrunc(value.v, type) : b.CreateZExtOrTrunc(value.v, type));
}

namespace {

/// The target's own rounding to bf16, to nearest even. Denormal numbers count as zeros, as they do while a model runs.
bool rounds_to_bf16(const Target& target, DType from, DType to, V value) {
  return from == DType::f32 && to == DType::bf16 && value.lanes() == target.lanes() && target.has_mask_registers &&
         target.multiply_add(DType::bf16, DType::bf16, DType::f32) && instructions_of(target).round_to_bf16;
}

}  // namespace

V emit_operator(const Target& target, ExprOp op, DType operand, DType result, llvm::ArrayRef<V> args) {
  if (op == ExprOp::cast && rounds_to_bf16(target, operand, result, args[0])) return instructions_of(target).round_to_bf16(args[0]);
  if (op == ExprOp::cast) return emit_cast(args[0], operand, result);
  if (op == ExprOp::select) return select(args[0], args[1], args[2]);
  if (!is_arithmetic_float(operand)) return integer_operator(op, operand, args);
  if (!half(operand)) return float_operator(target, op, args);
  llvm::SmallVector<V, 3> wide;
  for (V a : args) wide.push_back(widen_half(operand, a));
  const V value = float_operator(target, op, wide);
  return value.v && is_arithmetic_float(result) ? round_half(result, value) : value;
}

V emit_combine(const Target& target, ops::Combine how, DType dtype, V a, V b) {
  static constexpr ExprOp table[] = {ExprOp::add, ExprOp::add,         ExprOp::mul,       ExprOp::min,
                                     ExprOp::max, ExprOp::logical_and, ExprOp::logical_or};
  return emit_operator(target, table[static_cast<size_t>(how)], dtype, dtype, {a, b});
}

}  // namespace tenon::codegen::machine
