// SPDX-License-Identifier: Apache-2.0
#include <numbers>
#include <numeric>

#include "codegen/llvm/architecture.h"
#include "codegen/llvm/math.h"
#include "codegen/llvm/math_tables.h"

namespace tenon::codegen::machine::f32 {
namespace {

/// y * 2^n for integral n in [-252, 254], by two factors, so that denormal results and 2^128 come out right.
V scale_by_factors(V y, V n) {
  const V count = to_int(n, 32);
  const V half = shift_right_signed(count, 1);
  auto power = [](V k) { return from_bits((k + k.splat_integer(127)) << 23); };
  return y * power(half) * power(count - half);
}

/// By one instruction where the target has it.
V scale(const Target& target, V y, V n) {
  const int lanes = y.lanes();
  const auto by_power = instructions_of(target).scale_by_power;
  if (!target.has_scale_by_power || !by_power || lanes < 8) return scale_by_factors(y, n);
  if (lanes > 16)
    return concat(scale(target, slice(y, 0, lanes / 2), slice(n, 0, lanes / 2)),
                  scale(target, slice(y, lanes / 2, lanes / 2), slice(n, lanes / 2, lanes / 2)));
  return by_power(y, n);
}

V below(V x, double most) { return select(less(x.splat(most), x), x.splat(most), x); }
V above(V x, double least) { return select(less(x, x.splat(least)), x.splat(least), x); }

V widened(V a, int lanes) {
  if (a.lanes() == 0) return a.with(a.b->CreateInsertElement(llvm::PoisonValue::get(with_lanes(a.type(), lanes)), a.v, uint64_t{0}));
  llvm::SmallVector<int, 64> from(lanes, -1);
  std::iota(from.begin(), from.begin() + a.lanes(), 0);
  return a.with(a.b->CreateShuffleVector(a.v, from));
}

constexpr int kLookupLanes = 16;

/// The element of the table that the low five bits of each lane name.
V look_up(const Target& target, V number, std::span<const double, kTableParts> table) {
  Builder& b = *number.b;
  const auto half = [&](size_t begin) {
    llvm::SmallVector<float, kLookupLanes> out(table.begin() + begin, table.begin() + begin + kLookupLanes);
    return llvm::ConstantDataVector::get(b.getContext(), out);
  };
  return instructions_of(target).look_up(number, half(0), half(kLookupLanes));
}

bool uses_table_lookup(const Target& target) { return target.has_table_lookup && instructions_of(target).look_up; }

/// An odd function by its table: one polynomial for all lanes, of coefficients that each lane looks up.
V by_table(const Target& target, V x, const Table& table) {
  const int lanes = std::max(1, x.lanes());
  if (lanes > kLookupLanes)
    return concat(by_table(target, slice(x, 0, lanes / 2), table), by_table(target, slice(x, lanes / 2, lanes / 2), table));
  if (lanes < kLookupLanes) return slice(by_table(target, widened(x, kLookupLanes), table), 0, lanes);
  constexpr double kOnes = 0x1.8p23;  // one unit is the last bit there
  const V a = below(abs(x), table.step * (kTableParts - 0.51));
  const V part = fma(a, x.splat(1 / table.step), kOnes);
  const V t = fma(part - kOnes, x.splat(-table.step), a);
  const V number = to_bits(part);
  V sum = look_up(target, number, table.coefficients.back());
  for (size_t k = table.coefficients.size() - 1; k-- > 1;) sum = fma(sum, t, look_up(target, number, table.coefficients[k]));
  // The large term is rounded once, with the sum.
  return copy_sign(fma(a, look_up(target, number, table.coefficients[0]), a * t * sum), x);
}

/// e^x for -104 <= x <= 89: 2^n e^r, |r| <= ln(2)/2; e^r - 1 - r = r r P(r), P minimax of degree 4 (3e-9).
V exp_inside(const Target& target, V x) {
  const V n = round_even(x * std::numbers::log2e);
  const V r = fma(n, x.splat(-0x1.7f7d1cp-20), fma(n, x.splat(-0x1.62e4p-1), x));
  // By Estrin's scheme: what waits for operands fills the scheduler, and a shorter chain lets more exponentials run side by side.
  const V z = r * r, low = polynomial(r, {0.500000009504, 0.166665189128}), high = polynomial(r, {0.0416662060955, 0.00836888256268});
  const V p = fma(fma(z, z.splat(0.00139504767685), high), z, low);
  return scale(target, fma(z, p, r) + 1.0, n);
}
}  // namespace

V exp(const Target& target, V x) { return exp_inside(target, above(below(x, 89.0), -104.0)); }

/// |x| <= 0.625: x + x z P(z), z = x x (4.6e-9); else 1 - 2 / (e^2|x| + 1).
V tanh(const Target& target, V x) {
  if (uses_table_lookup(target)) return by_table(target, x, tanh_table);
  const V a = abs(x), z = x * x;
  const V p = polynomial(z, {-0.333332814395, 0.133314085939, -0.0537356929564, 0.0206228101657, -0.00568387277135});
  const V near = fma(x * z, p, x);
  const V c = below(a, 10.0);
  const V far = 1.0 - x.splat(2.0) / (exp_inside(target, c + c) + 1.0);
  return copy_sign(select(greater(a, 0.625), far, near), x);
}

/// |x| <= 1: x P(x x) (1.2e-9); else 1 - e^-Q(|x|), Q the minimax polynomial of -log(erfc) (absolute error of erf 1.2e-9).
V erf(const Target& target, V x) {
  if (uses_table_lookup(target)) return by_table(target, x, erf_table);
  const V a = abs(x), z = x * x;
  const V near = x * polynomial(z, {1.12837916572, -0.376126257498, 0.112835841826, -0.0268537665189, 0.0051882319533, -0.000800927004007,
                                    7.85054015302e-5});
  const V c = below(a, 4.0);
  const V q = polynomial(
      c, {-0.000312472965538, -1.12720226363, -0.637965021967, -0.103256181664, 0.0219064658601, -0.00296400345473, 0.000187971414775});
  const V far = 1.0 - exp_inside(target, q);
  return select(greater(a, 1.0), copy_sign(far, x), near);
}

}  // namespace tenon::codegen::machine::f32
