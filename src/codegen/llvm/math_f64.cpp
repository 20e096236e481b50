// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "codegen/llvm/math.h"

// The functions in double precision; those of f32 that are not hot run through them and round once, which makes them right to 0.5 ULP
// and a bit. Methods: argument reduction as in fdlibm; polynomials are Taylor series where those end soon enough, else interpolated at
// Chebyshev nodes with 60 digits (relative error below 1e-18). Bounds below are the largest seen over dense samples.

namespace tenon::codegen::machine::f64 {
namespace {

V infinite(V x) { return equal(x, kInf); }

/// 2^n for integral n in [-1022, 1023].
V power_of_two(V n) {
  const V bits = low_bits(n);
  return from_bits((bits + bits.splat_integer(1023)) << 52);
}

/// e^r - 1 - r for |r| <= 0.35: Taylor to r^13.
V exp_tail(V r) {
  return r * r *
         polynomial(r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                        1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800});
}

struct Reduced {
  V count, r, low;
};
Reduced by_ln2(V x) {
  const V n = round_even(x * std::numbers::log2e);
  const V high = fma(n, x.splat(-kLn2Hi), x);
  const V low = n * -kLn2Lo;
  const V r = high + low;
  return {n, r, (high - r) + low};
}

V clamp(V x, double low, double high) { return select(less(x, low), low, select(greater(x, high), high, x)); }

}  // namespace

V low_bits(V n) { return to_bits(n + 0x1.8p52); }

V exp(V x) {
  const V c = clamp(x, -746, 710);
  const Reduced k = by_ln2(c);
  const V y = exp_tail(k.r) + k.low + k.r + 1.0;
  const V half = trunc(k.count * 0.5);  // two factors, so that denormal results and 2^1024 come out right
  return y * power_of_two(half) * power_of_two(k.count - half);
}

V expm1(V x) {
  const V c = clamp(x, -45, 710);
  const Reduced k = by_ln2(c);
  const V y = k.r + (exp_tail(k.r) + k.low);
  const V t = power_of_two(select(greater(k.count, 1023), 1023.0, k.count));
  const V direct = fma(t, y, t - 1.0);
  const V big = exp(x);
  const V result = select(greater(x, 45), big, direct);
  return select(less(abs(x), 1e-300), x, result);
}

LogParts log_parts(V x) {
  const V tiny = less(x, std::numeric_limits<double>::min());
  const V scaled = select(tiny, x * 0x1p54, x);
  const V bits = to_bits(scaled);
  const V shifted = bits - bits.splat_integer(0x3fe6a09e667f3bcd);  // sqrt(1/2): the mantissa ends in [sqrt(1/2), sqrt(2))
  const V exponent = shift_right_signed(shifted, 52);
  const V m = from_bits(bits - (exponent << 52));
  const V magic = exponent.splat_integer(0x4338000000000000);  // the bits of 1.5 * 2^52
  const V count = from_bits(exponent + magic) - 0x1.8p52;
  return {m - 1.0, count - select(tiny, 54.0, x.splat(0))};
}

V log(V x) {
  const LogParts p = log_parts(x);
  const V s = p.f / (p.f + 2.0), z = s * s;
  // 2 atanh(s) = 2s + s z R(z); written as f - s (f - z R) so that f stays exact
  const V r = z * polynomial(z, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23,
                                 2.0 / 25});
  const V low = fma(p.exponent, x.splat(kLn2Lo), -(s * (p.f - r)));
  V y = fma(p.exponent, x.splat(kLn2Hi), p.f + low);
  y = select(infinite(x), x, y);
  y = select(equal(x, 0.0), -kInf, y);
  return select(less(x, 0), kNaN, select(is_nan(x), x, y));
}

V log1p(V x) {
  const V u = x + 1.0;
  const V y = log(u) + (x - (u - 1.0)) / u;
  const V at_edges = select(equal(x, -1.0), -kInf, select(infinite(x), x, y));
  return select(less(abs(x), 1e-17), x, at_edges);
}

V sinh(V x) {
  const V a = abs(x);
  const V e = expm1(a);
  const V near = (e + e / (e + 1.0)) * 0.5;
  const V w = exp(a * 0.5);
  return copy_sign(select(greater(a, 40), (w * 0.5) * w, near), x);
}

V cosh(V x) {
  const V a = abs(x);
  const V e = exp(a), w = exp(a * 0.5);
  return select(greater(a, 40), (w * 0.5) * w, e * 0.5 + x.splat(0.5) / e);
}

V tanh(V x) {
  const V a = abs(x);
  const V e = expm1(select(greater(a, 22), 22.0, a) * 2.0);
  return copy_sign(e / (e + 2.0), x);
}

V asinh(V x) {
  const V a = abs(x), square = a * a;
  const V near = log1p(a + square / (sqrt(square + 1.0) + 1.0));
  return copy_sign(select(greater(a, 0x1p28), log(a) + std::numbers::ln2, near), x);
}

V acosh(V x) {
  const V t = x - 1.0;
  const V near = log1p(t + sqrt(t * 2.0 + t * t));
  return select(less(x, 1), kNaN, select(greater(x, 0x1p28), log(x) + std::numbers::ln2, near));
}

V atanh(V x) {
  const V a = abs(x);
  const V y = log1p((a + a) / (1.0 - a)) * 0.5;
  return copy_sign(select(greater(a, 1), kNaN, y), x);
}

V erf(V x) {
  const V a = abs(x), z = x * x;
  const V near =
      x * polynomial(z, {1.1283791670955125739, -0.37612638903183752379, 0.11283791670955120229, -0.026866170645129839313,
                         0.0052239776254232802117, -0.00085483270219335284076, 0.00012055332902828876188, -0.000014925647565679571482,
                         1.6462045402872721633e-6, -1.6364641603711820639e-7, 1.4792395844507950635e-8, -1.2164526639984361852e-9,
                         8.7089241396283046596e-11, -4.2307523713935718688e-12});
  // erfc(a) e^(a a) as a polynomial of t = 2 / (2 + a), 1 <= a <= 6, t shifted to [-1, 1]
  const V c = select(greater(a, 6), 6.0, a);
  const V t = x.splat(2.0) / (c + 2.0);
  const V u = (t - 11.0 / 24) * 4.8;
  const V g = polynomial(u, {0.22142954022993180632,     0.16189356804102498289,     0.038560570425182429936,    0.0055888162818395598764,
                             0.00019713917772772868238,  -0.00008079220426206831939, -7.3405179350775198333e-6,  1.9795618120647825637e-6,
                             1.6349935378442803909e-7,   -7.0053165957149236122e-8,  -5.8853920113841814624e-10, 2.6239460162021571283e-9,
                             -2.6882139730423200671e-10, -7.3510628740985747671e-11, 2.2263992706981383538e-11,  -2.3388027568058049823e-13,
                             -1.0054481246349451364e-12, 1.9545832398862559726e-13,  1.2690197027779877856e-14,  -1.1222580954177336846e-14,
                             1.3712188543361804205e-15});
  const V far = copy_sign(1.0 - g * exp(-(c * c)), x);
  return select(greater(a, 1), far, near);
}

}  // namespace tenon::codegen::machine::f64
