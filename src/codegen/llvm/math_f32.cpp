// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/IntrinsicsX86.h>

#include <numbers>

#include "codegen/llvm/math.h"

namespace tenon::codegen::machine::f32 {
namespace {

/// y * 2^n for integral n in [-252, 254], by two factors, so that denormal results and 2^128 come out right.
V scale_by_factors(V y, V n) {
  const V count = to_int(n, 32);
  const V half = shift_right_signed(count, 1);
  auto power = [](V k) { return from_bits((k + k.same_integer(127)) << 23); };
  return y * power(half) * power(count - half);
}

/// AVX-512 has y * 2^floor(n) as one instruction, right to the denormals.
V scale(const Target& target, V y, V n) {
  const int lanes = y.lanes();
  if (target.isa != Target::Isa::avx512 || lanes < 8) return scale_by_factors(y, n);
  if (lanes > 16) return concat(scale(target, slice(y, 0, lanes / 2), slice(n, 0, lanes / 2)), scale(target, slice(y, lanes / 2, lanes / 2), slice(n, lanes / 2, lanes / 2)));
  Builder& b = *y.b;
  if (lanes == 8) return y.with(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_256, {}, {y.v, n.v, y.v, b.getInt8(0xff)}));
  return y.with(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {}, {y.v, n.v, y.v, b.getInt16(0xffff), b.getInt32(4)}));
}

V below(V x, double most) { return select(less(x.same(most), x), x.same(most), x); }
V above(V x, double least) { return select(less(x, x.same(least)), x.same(least), x); }

}  // namespace

/// e^x = 2^n e^r, |r| <= ln(2)/2; e^r - 1 - r = r r P(r), P minimax of degree 4 (3e-9).
V exp(const Target& target, V x) {
  const V c = above(below(x, 89.0), -104.0);
  const V n = round_even(c * std::numbers::log2e);
  const V r = fma(n, c.same(-0x1.7f7d1cp-20), fma(n, c.same(-0x1.62e4p-1), c));
  const V p = polynomial(r, {0.500000009504, 0.166665189128, 0.0416662060955, 0.00836888256268, 0.00139504767685});
  return scale(target, fma(r * r, p, r) + 1.0, n);
}

/// x P(x x) / Q(x x), |x| <= 9.01; rational minimax (1.4e-9). Beyond, the result rounds to 1.
V tanh(V x) {
  const V c = above(below(x, 9.01), -9.01), z = c * c;
  const V p = polynomial(z, {0.999999998676, 0.136795404306, 0.00386785823153, 2.7997982462e-5, 3.05622285624e-8, -1.21865620964e-11});
  const V q = polynomial(z, {1.0, 0.470128724782, 0.0272441206443, 0.000393780319234, 1.2867043939e-6});
  const V y = c * p / q;
  return above(below(y, 1.0), -1.0);
}

/// x P(x x) / Q(x x), |x| <= 3.93; rational minimax (1.9e-9). Beyond, the result rounds to 1.
V erf(V x) {
  const V c = above(below(x, 3.93), -3.93), z = c * c;
  const V p = polynomial(z, {1.1283791692, 0.185155417492, 0.0542621202653, 0.00384142361814, 0.000377451737171, 4.62759297101e-6, -1.28983168157e-8});
  const V q = polynomial(z, {1.0, 0.497423124434, 0.1138957697, 0.0154381073847, 0.00130301878067, 6.25717114512e-5});
  const V y = c * p / q;
  return above(below(y, 1.0), -1.0);
}

}  // namespace tenon::codegen::machine::f32
