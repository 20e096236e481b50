// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "codegen/llvm/math.h"

// Functions of angles and angles of numbers, in double precision, by the methods of math_f64.cpp.

namespace tenon::codegen::machine::f64 {

namespace {

constexpr double kPiHalf = 0x1.921fb54442d18p0, kPiHalfLow = 0x1.1a62633145c07p-54;

struct ReducedAngle {
  V count, r, low;
};

/// x = (count + r/(pi/2)) * pi/2 with |r| <= pi/4 and a bit; the products are exact under fma while count < 2^50.
ReducedAngle by_half_pi(V x) {
  const V n = round_even(x * (2 / std::numbers::pi));
  const V a = fma(n, x.splat(-kPiHalf), x);
  const V product = n * kPiHalfLow;
  const V r = a - product;
  const V rest = fma(n, x.splat(-kPiHalfLow), product);  // what n * low lost
  const V low = ((a - r) - product) + fma(n, x.splat(0x1.f1976b7ed8fbcp-110), rest);
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

V quadrant_bit(V quadrant, int64_t bit) { return !equal(quadrant & bit, quadrant.splat_integer(0)); }

/// Beyond 2^49 the reduction has no correct bit left; NaN says so.
constexpr double kLargest = 0x1p49;
V within(V x) { return less(abs(x), kLargest); }

V sin_or_cos(V x, int64_t shift) {
  const ReducedAngle k = by_half_pi(select(within(x), x, x.splat(0)));
  const V bits = low_bits(k.count);
  const V quadrant = bits + bits.splat_integer(shift);
  const V y = select(quadrant_bit(quadrant, 1), cosine(k.r, k.low), sine(k.r, k.low));
  return select(within(x), select(quadrant_bit(quadrant, 2), -y, y), x.splat(kNaN));
}

}  // namespace

V sin(V x) { return select(equal(x, 0.0), x, sin_or_cos(x, 0)); }
V cos(V x) { return sin_or_cos(x, 1); }

V tan(V x) {
  const ReducedAngle k = by_half_pi(select(within(x), x, x.splat(0)));
  const V s = sine(k.r, k.low), c = cosine(k.r, k.low);
  const V odd = quadrant_bit(low_bits(k.count), 1);
  const V y = select(odd, -c, s) / select(odd, s, c);
  return select(equal(x, 0.0), x, select(within(x), y, x.splat(kNaN)));
}

V atan(V x) {
  const V a = abs(x);
  const V far = greater(a, 2.414213562373095), middle = greater(a, 0.41421356237309503) & !far;
  const V t = select(far, a.splat(-1.0) / a, select(middle, (a - 1.0) / (a + 1.0), a));
  const V base = select(far, kPiHalf, select(middle, kPiHalf / 2, x.splat(0)));
  const V low = select(far, kPiHalfLow, select(middle, kPiHalfLow / 2, x.splat(0)));
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

}  // namespace tenon::codegen::machine::f64
