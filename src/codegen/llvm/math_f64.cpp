// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numbers>

#include "codegen/llvm/math.h"

// The functions in double precision; those of f32 that are not hot run through them and round once, which makes them right to 0.5 ULP
// and a bit. Methods: argument reduction as in fdlibm; polynomials are Taylor series where those end soon enough, else interpolated at
// Chebyshev nodes with 60 digits (relative error below 1e-18). Bounds below are the largest seen over dense samples.

namespace tenon::codegen::machine::f64 {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPiHalf = 0x1.921fb54442d18p0, kPiHalfLow = 0x1.1a62633145c07p-54;

V infinite(V x) { return equal(x, kInf); }

/// Bits whose low 51 hold the integral n, |n| < 2^50, in two's complement. (Adding 1.5 * 2^52 is one instruction on every CPU; the
/// conversion to i64 is not.)
V low_bits(V n) { return to_bits(n + 0x1.8p52); }

/// 2^n for integral n in [-1022, 1023].
V power_of_two(V n) {
  const V bits = low_bits(n);
  return from_bits((bits + bits.same_integer(1023)) << 52);
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
  const V high = fma(n, x.same(-kLn2Hi), x);
  const V low = n * -kLn2Lo;
  const V r = high + low;
  return {n, r, (high - r) + low};
}

V clamp(V x, double low, double high) { return select(less(x, low), low, select(greater(x, high), high, x)); }

}  // namespace

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
  const V shifted = bits - bits.same_integer(0x3fe6a09e667f3bcd);  // sqrt(1/2): the mantissa ends in [sqrt(1/2), sqrt(2))
  const V exponent = shift_right_signed(shifted, 52);
  const V m = from_bits(bits - (exponent << 52));
  const V magic = exponent.same_integer(0x4338000000000000);  // the bits of 1.5 * 2^52
  const V count = from_bits(exponent + magic) - 0x1.8p52;
  return {m - 1.0, count - select(tiny, 54.0, x.same(0))};
}

V log(V x) {
  const LogParts p = log_parts(x);
  const V s = p.f / (p.f + 2.0), z = s * s;
  // 2 atanh(s) = 2s + s z R(z); written as f - s (f - z R) so that f stays exact
  const V r = z * polynomial(z, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23,
                                 2.0 / 25});
  const V low = fma(p.exponent, x.same(kLn2Lo), -(s * (p.f - r)));
  V y = fma(p.exponent, x.same(kLn2Hi), p.f + low);
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

namespace {

/// x = (count + r/(pi/2)) * pi/2 with |r| <= pi/4 and a bit; the products are exact under fma while count < 2^50.
Reduced by_half_pi(V x) {
  const V n = round_even(x * (2 / std::numbers::pi));
  const V a = fma(n, x.same(-kPiHalf), x);
  const V product = n * kPiHalfLow;
  const V r = a - product;
  const V rest = fma(n, x.same(-kPiHalfLow), product);  // what n * low lost
  const V low = ((a - r) - product) + fma(n, x.same(0x1.f1976b7ed8fbcp-110), rest);
  return {n, r, low};
}

/// sin(r + low) and cos(r + low), |r| <= pi/4: Taylor to r^17 and r^18.
V sine(V r, V low) {
  const V z = r * r;
  const V p = polynomial(
      z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000});
  return r + fma(z * r, p, low * (1.0 - z * 0.5));
}
V cosine(V r, V low) {
  const V z = r * r, h = z * 0.5, w = 1.0 - h;
  const V p = polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000,
                             -1.0 / 6402373705728000});
  return w + (((1.0 - w) - h) + fma(z * z, p, -(r * low)));
}

V quadrant_bit(V quadrant, int64_t bit) { return !equal(quadrant & bit, quadrant.same_integer(0)); }

/// Beyond 2^49 the reduction has no correct bit left; NaN says so.
constexpr double kLargest = 0x1p49;
V within(V x) { return less(abs(x), kLargest); }

V sin_or_cos(V x, int64_t shift) {
  const Reduced k = by_half_pi(select(within(x), x, x.same(0)));
  const V bits = low_bits(k.count);
  const V quadrant = bits + bits.same_integer(shift);
  const V y = select(quadrant_bit(quadrant, 1), cosine(k.r, k.low), sine(k.r, k.low));
  return select(within(x), select(quadrant_bit(quadrant, 2), -y, y), x.same(kNaN));
}

}  // namespace

V sin(V x) { return select(equal(x, 0.0), x, sin_or_cos(x, 0)); }
V cos(V x) { return sin_or_cos(x, 1); }

V tan(V x) {
  const Reduced k = by_half_pi(select(within(x), x, x.same(0)));
  const V s = sine(k.r, k.low), c = cosine(k.r, k.low);
  const V odd = quadrant_bit(low_bits(k.count), 1);
  const V y = select(odd, -c, s) / select(odd, s, c);
  return select(equal(x, 0.0), x, select(within(x), y, x.same(kNaN)));
}

V atan(V x) {
  const V a = abs(x);
  const V far = greater(a, 2.414213562373095), middle = greater(a, 0.41421356237309503) & !far;
  const V t = select(far, a.same(-1.0) / a, select(middle, (a - 1.0) / (a + 1.0), a));
  const V base = select(far, kPiHalf, select(middle, kPiHalf / 2, x.same(0)));
  const V low = select(far, kPiHalfLow, select(middle, kPiHalfLow / 2, x.same(0)));
  const V z = t * t;
  const V p = polynomial(z, {-0.33333333333333333217, 0.19999999999999804526, -0.14285714285659827515, 0.1111111110515543774,
                             -0.090909087535004377046, 0.076922963750194456221, -0.066664248855102121244, 0.058789289952127550612,
                             -0.052304542513389296909, 0.0455159313253759855, -0.034570559715961567658, 0.016285754344567681387});
  return copy_sign(base + (t + fma(t * z, p, low)), x);
}

namespace {
/// (asin(t) - t) / t for t*t = z <= 0.25
V asin_tail(V z) {
  return z * polynomial(z, {0.16666666666666666591, 0.075000000000001184573, 0.044642857142550185061, 0.03038194447569370487,
                            0.022372157435623815206, 0.017352816768546477659, 0.013963775787848059166, 0.011566511821891770067,
                            0.0096214027473386797521, 0.0093221015011145200028, 0.00303500717261520084, 0.019579201619999293834,
                            -0.019277545928924787036, 0.029635026263750574844});
}
/// asin(a) for a > 1/2 is pi/2 - 2 asin(s) with s = sqrt(z), z = (1 - a) / 2; nearer to 0 z is a * a.
struct HalfAngle {
  V a, far, z, s;
  V root_low;  ///< what rounding took from s
};
HalfAngle half_angle(V x) {
  const V a = abs(x);
  const V far = greater(a, 0.5);
  const V z = select(far, (1.0 - a) * 0.5, a * a);
  const V s = sqrt(z);
  return {a, far, z, s, fma(-s, s, z) / select(equal(s, 0.0), 1.0, s + s)};
}
}  // namespace

V asin(V x) {
  const auto [a, far, z, s, root_low] = half_angle(x);
  const V outer = kPiHalf - ((s + s) + (fma(s * 2.0, asin_tail(z), root_low * 2.0) - kPiHalfLow));
  return copy_sign(select(far, outer, fma(a, asin_tail(z), a)), x);
}

V acos(V x) {
  const auto [a, far, z, s, root_low] = half_angle(x);
  const V twice = (s + fma(s, asin_tail(z), root_low)) * 2.0;
  const V outer = select(less(x, 0), 2 * kPiHalf - (twice - 2 * kPiHalfLow), twice);
  return select(far, outer, kPiHalf - (x - (kPiHalfLow - x * asin_tail(z))));
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
  return select(greater(a, 40), (w * 0.5) * w, e * 0.5 + x.same(0.5) / e);
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
  const V t = x.same(2.0) / (c + 2.0);
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
