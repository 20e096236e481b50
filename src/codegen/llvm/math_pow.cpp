// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "codegen/llvm/math.h"

namespace tenon::codegen::machine {
namespace f64 {
namespace {

struct Pair {
  V hi, lo;
};

/// hi + lo = a + b exactly.
Pair two_sum(V a, V b) {
  const V s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}

/// log(x) to about 2^-65, x > 0: 2 atanh(s) with s and its cube term in two parts.
Pair log_pair(V x) {
  const LogParts p = log_parts(x);
  const V d = p.f + 2.0, d_low = p.f - (d - 2.0);
  const V s = p.f / d, s_low = (fma(-s, d, p.f) - s * d_low) / d;
  const V z = s * s, z_low = fma(s, s, -z) + s * s_low * 2.0;
  const V cube = s * z, cube_low = fma(s, z, -cube) + s * z_low + s_low * z;
  const V third = x.splat(2.0 / 3);
  const V t = cube * third, t_low = fma(cube, third, -t) + cube * 0x1.5555555555555p-55 + cube_low * third;
  const V rest =
      cube * z * polynomial(z, {2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25});
  const Pair a = two_sum(p.exponent * kLn2Hi, s + s);
  const Pair b = two_sum(a.hi, t);
  return two_sum(b.hi, b.lo + a.lo + p.exponent * kLn2Lo + s_low * 2.0 + t_low + rest);
}

/// |x|^y from a logarithm in one or two parts, the rest of the cases of C's pow around it.
V pow_from(V x, V y, bool exact) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const V a = abs(x);
  const V zero = equal(a, 0.0), infinite = equal(a, inf);
  V r = y;
  if (exact) {
    const Pair l = log_pair(a);
    const V hi = select(zero, -inf, select(infinite, inf, l.hi)), lo = select(zero | infinite, 0.0, l.lo);
    const V product = y * hi;
    const V low = fma(y, hi, -product) + y * lo;
    const V e = exp(product);
    r = select(less(abs(product), 1000) & less(e, inf), fma(e, low, e), e);
  } else {
    r = exp(y * log(a));
  }
  const V integral = equal(trunc(y), y);
  const V half = y * 0.5;
  const V odd = integral & !equal(trunc(half), half) & !equal(abs(y), inf);
  const V negative = less(to_bits(x), to_bits(x).splat_integer(0));
  r = select(negative & odd, -r, r);
  const V outside = less(x, 0) & !integral & !infinite;
  r = select(outside, std::numeric_limits<double>::quiet_NaN(), r);
  r = select(is_nan(x), x, r);
  r = select(equal(a, 1.0) & (equal(abs(y), inf) | equal(x, 1.0)), 1.0, r);
  return select(equal(y, 0.0), 1.0, r);
}

}  // namespace

V pow(V x, V y) { return pow_from(x, y, true); }
V pow_for_f32(V x, V y) { return pow_from(x, y, false); }

}  // namespace f64

namespace {

/// A positive float as mantissa * 2^(exponent - bias - mantissa bits); denormals are scaled up first.
struct Mantissa {
  V bits, exponent;
};
Mantissa take_apart(V a, int mantissa_bits) {
  const double least = a.width() == 64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const V tiny = less(a, least);
  const V bits = to_bits(select(tiny, a * 0x1p60, a));
  const V exponent = shift_right(bits, mantissa_bits);
  const int64_t one = int64_t{1} << mantissa_bits;
  return {(bits & (one - 1)) | one, exponent - select(tiny, exponent.splat_integer(60), exponent.splat_integer(0))};
}

/// The remainder of the long division of the mantissas; lanes with a smaller exponent keep theirs.
V divide_mantissas(const Mantissa& a, const Mantissa& b) {
  Builder& builder = *a.bits.b;
  llvm::Function* f = builder.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock* step = llvm::BasicBlock::Create(builder.getContext(), "divide", f);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(builder.getContext(), "divided", f);
  const V start = a.exponent - b.exponent;
  builder.CreateBr(step);
  builder.SetInsertPoint(step);
  llvm::PHINode *r = builder.CreatePHI(a.bits.type(), 2), *left = builder.CreatePHI(start.type(), 2);
  r->addIncoming(a.bits.v, before);
  left->addIncoming(start.v, before);
  const V now = a.bits.with(r), count = a.bits.with(left), zero = now.splat_integer(0);
  const V fits = !less(now, b.bits) & !less(count, zero);
  const V reduced = select(fits, now - b.bits, now);
  const V next = select(less(zero, count), reduced << 1, reduced), next_count = count - now.splat_integer(1);
  r->addIncoming(next.v, step);
  left->addIncoming(next_count.v, step);
  builder.CreateCondBr(any(!less(next_count, zero)).v, step, done);
  builder.SetInsertPoint(done);
  return next;
}

}  // namespace

V emit_fmod(V x, V y) {
  const bool wide = x.width() == 64;
  const int mantissa_bits = wide ? 52 : 23, bias = wide ? 1023 : 127;
  const double inf = std::numeric_limits<double>::infinity();
  const V a = abs(x), b = abs(y);
  const Mantissa ma = take_apart(a, mantissa_bits), mb = take_apart(b, mantissa_bits);
  const V rest = divide_mantissas(ma, mb);
  const V scale = mb.exponent - mb.exponent.splat_integer(bias + mantissa_bits), half = shift_right_signed(scale, 1);
  auto power = [&](V k) { return from_bits((k + k.splat_integer(bias)) << mantissa_bits); };
  const V magnitude = to_float(rest) * power(half) * power(scale - half);
  const V r = select(less(a, b), x, copy_sign(magnitude, x));
  const V outside = equal(a, inf) | equal(b, 0.0) | x.with(x.b->CreateFCmpUNO(x.v, y.v));
  return select(outside, std::numeric_limits<double>::quiet_NaN(), r);
}

}  // namespace tenon::codegen::machine
