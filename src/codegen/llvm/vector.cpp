// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/vector.h"

#include <llvm/IR/Intrinsics.h>

#include <limits>
#include <numeric>

namespace tenon::codegen::machine {

using llvm::Type;
using llvm::Value;

namespace {
V unary_intrinsic(llvm::Intrinsic::ID id, V a) { return a.with(a.b->CreateUnaryIntrinsic(id, a.v)); }
Type* like(V a, Type* element) { return a.lanes() == 0 ? element : with_lanes(element, a.lanes()); }
}  // namespace

int V::lanes() const {
  auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return t ? static_cast<int>(t->getNumElements()) : 0;
}
V V::splat(double number) const {
  if (!real()) return splat_integer(static_cast<int64_t>(number));
  return with(llvm::ConstantFP::get(type(), number));
}
V V::splat_integer(int64_t number) const {
  if (real()) return splat(static_cast<double>(number));
  return with(llvm::ConstantInt::get(type(), static_cast<uint64_t>(number), true, true));
}

V operator+(V a, V b) { return a.with(a.real() ? a.b->CreateFAdd(a.v, b.v) : a.b->CreateAdd(a.v, b.v)); }
V operator-(V a, V b) { return a.with(a.real() ? a.b->CreateFSub(a.v, b.v) : a.b->CreateSub(a.v, b.v)); }
V operator*(V a, V b) { return a.with(a.real() ? a.b->CreateFMul(a.v, b.v) : a.b->CreateMul(a.v, b.v)); }
V operator/(V a, V b) { return a.with(a.b->CreateFDiv(a.v, b.v)); }
V operator-(V a) { return a.with(a.real() ? a.b->CreateFNeg(a.v) : a.b->CreateNeg(a.v)); }
V operator+(V a, double c) { return a + a.splat(c); }
V operator-(V a, double c) { return a - a.splat(c); }
V operator-(double c, V a) { return a.splat(c) - a; }
V operator*(V a, double c) { return a * a.splat(c); }
V operator&(V a, V b) { return a.with(a.b->CreateAnd(a.v, b.v)); }
V operator|(V a, V b) { return a.with(a.b->CreateOr(a.v, b.v)); }
V operator^(V a, V b) { return a.with(a.b->CreateXor(a.v, b.v)); }
V operator&(V a, int64_t c) { return a & a.splat_integer(c); }
V operator|(V a, int64_t c) { return a | a.splat_integer(c); }
V operator<<(V a, int64_t by) { return a.with(a.b->CreateShl(a.v, a.splat_integer(by).v)); }
V shift_right(V a, int64_t by) { return a.with(a.b->CreateLShr(a.v, a.splat_integer(by).v)); }
V shift_right_signed(V a, int64_t by) { return a.with(a.b->CreateAShr(a.v, a.splat_integer(by).v)); }
V operator!(V mask) { return mask.with(mask.b->CreateNot(mask.v)); }
V less(V a, V b) { return a.with(a.real() ? a.b->CreateFCmpOLT(a.v, b.v) : a.b->CreateICmpSLT(a.v, b.v)); }
V less(V a, double c) { return less(a, a.splat(c)); }
V greater(V a, double c) { return less(a.splat(c), a); }
V equal(V a, V b) { return a.with(a.real() ? a.b->CreateFCmpOEQ(a.v, b.v) : a.b->CreateICmpEQ(a.v, b.v)); }
V equal(V a, double c) { return equal(a, a.splat(c)); }
V is_nan(V a) { return a.with(a.b->CreateFCmpUNO(a.v, a.v)); }
V select(V condition, V then, V otherwise) { return then.with(then.b->CreateSelect(condition.v, then.v, otherwise.v)); }
V select(V condition, double then, V otherwise) { return select(condition, otherwise.splat(then), otherwise); }
V fma(V a, V b, V c) { return a.with(a.b->CreateIntrinsic(llvm::Intrinsic::fma, {a.type()}, {a.v, b.v, c.v})); }
V fma(V a, V b, double c) { return fma(a, b, a.splat(c)); }
V abs(V a) { return unary_intrinsic(llvm::Intrinsic::fabs, a); }
V copy_sign(V magnitude, V sign) {
  return magnitude.with(magnitude.b->CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude.v, sign.v));
}
V sqrt(V a) { return unary_intrinsic(llvm::Intrinsic::sqrt, a); }
V round_even(V a) { return unary_intrinsic(llvm::Intrinsic::roundeven, a); }
V trunc(V a) { return unary_intrinsic(llvm::Intrinsic::trunc, a); }
V floor(V a) { return unary_intrinsic(llvm::Intrinsic::floor, a); }
V to_bits(V a) { return a.with(a.b->CreateBitCast(a.v, like(a, a.b->getIntNTy(a.width())))); }
V from_bits(V a) {
  return a.with(a.b->CreateBitCast(a.v, like(a, a.width() == 64   ? a.b->getDoubleTy()
                                                : a.width() == 32 ? a.b->getFloatTy()
                                                                  : a.b->getHalfTy())));
}
V to_f32(V a) { return a.with(a.b->CreateFPCast(a.v, like(a, a.b->getFloatTy()))); }
V to_f64(V a) { return a.with(a.b->CreateFPCast(a.v, like(a, a.b->getDoubleTy()))); }
V to_int(V a, int width) { return a.with(a.b->CreateFPToSI(a.v, like(a, a.b->getIntNTy(width)))); }
V to_float(V a) { return a.with(a.b->CreateSIToFP(a.v, like(a, a.width() == 64 ? a.b->getDoubleTy() : a.b->getFloatTy()))); }

V polynomial(V x, std::initializer_list<double> c) {
  const double* at = c.end() - 1;
  V sum = x.splat(*at);
  while (at != c.begin()) sum = fma(sum, x, *--at);
  return sum;
}

V any(V mask) {
  if (mask.lanes() == 0) return mask;
  return mask.with(mask.b->CreateOrReduce(mask.v));
}

V slice(V a, int begin, int count) {
  if (count == 1) return a.with(a.b->CreateExtractElement(a.v, static_cast<uint64_t>(begin)));
  llvm::SmallVector<int, 64> lanes(count);
  std::iota(lanes.begin(), lanes.end(), begin);
  return a.with(a.b->CreateShuffleVector(a.v, lanes));
}

V concat(V a, V b) {
  llvm::SmallVector<int, 64> lanes(2 * a.lanes());
  std::iota(lanes.begin(), lanes.end(), 0);
  return a.with(a.b->CreateShuffleVector(a.v, b.v, lanes));
}

Type* memory_type(llvm::LLVMContext& c, DType dtype) {
  if (dtype == DType::f32) return Type::getFloatTy(c);
  if (dtype == DType::f64) return Type::getDoubleTy(c);
  return Type::getIntNTy(c, bits_of(dtype));
}

Type* element_type(llvm::LLVMContext& c, DType dtype) { return dtype == DType::boolean ? Type::getInt1Ty(c) : memory_type(c, dtype); }

Type* with_lanes(Type* element, int lanes) {
  if (lanes <= 1) return element;
  return llvm::FixedVectorType::get(element, lanes);
}

V widen_half(DType dtype, V bits) {
  if (dtype == DType::f16) return to_f32(from_bits(bits));
  const V wide = bits.with(bits.b->CreateZExt(bits.v, like(bits, bits.b->getInt32Ty())));
  return from_bits(wide << 16);
}

namespace {
/// f64 to f32, rounded to odd: a second rounding to fewer bits then gives what one rounding would.
V round_to_odd(V x) {
  const V nearest = to_f32(x), back = to_f64(nearest);
  const V bits = to_bits(nearest);
  const V inexact = x.with(x.b->CreateFCmpONE(back.v, x.v));
  const V above = less(abs(x), abs(back));
  const V down = bits + select(above, bits.splat_integer(-1), bits.splat_integer(0));
  return from_bits(select(inexact, down | 1, bits));
}
}  // namespace

V round_half(DType dtype, V x) {
  if (x.width() == 64) x = round_to_odd(x);
  if (dtype == DType::f16) return to_bits(x.with(x.b->CreateFPTrunc(x.v, like(x, x.b->getHalfTy()))));
  const V bits = to_bits(x);
  const V rounded = bits + (shift_right(bits, 16) & 1) + bits.splat_integer(0x7fff);
  const V quiet = bits | 0x00400000;
  const V high = shift_right(select(is_nan(x), quiet, rounded), 16);
  return x.with(x.b->CreateTrunc(high.v, like(x, x.b->getInt16Ty())));
}

V widen_f8(V bits) {
  // Of the exponent and the fraction as those of an f16, whose bias is 8 more: exact for denormals too, which the conversion never flushes.
  const V wide = bits.with(bits.b->CreateZExt(bits.v, like(bits, bits.b->getInt16Ty())));
  const V number = to_f32(from_bits(((wide & 0x80) << 8) | ((wide & 0x7f) << 7))) * 256.0;
  return select(equal(abs(number), 480), std::numeric_limits<double>::quiet_NaN(), number);
}

V round_f8(V x) {
  constexpr double kLargest = 448, kLeastNormal = 0x1p-6,
                   kOneUnit = 0x1p14;  // adding kOneUnit rounds to multiples of 2^-9, as denormals are
  if (x.width() == 64) x = round_to_odd(x);
  const V sign = shift_right(to_bits(x), 24) & 0x80;
  const V given = abs(x), magnitude = select(less(given, kLargest), given, given.splat(kLargest));
  const V bits = to_bits(magnitude), denormal = to_bits(magnitude + kOneUnit) - to_bits(magnitude.splat(kOneUnit));
  const V rounded = bits + (shift_right(bits, 20) & 1) + bits.splat_integer(0x7ffff);
  const V normal = shift_right(rounded, 20) - bits.splat_integer(8 * (127 - 7));
  const V code = select(is_nan(x), bits.splat_integer(0x7f), select(less(magnitude, kLeastNormal), denormal, normal)) | sign;
  return x.with(x.b->CreateTrunc(code.v, like(x, x.b->getInt8Ty())));
}

}  // namespace tenon::codegen::machine
