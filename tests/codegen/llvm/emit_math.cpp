// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <random>

#include "tile_run.h"

namespace tenon::codegen {
namespace {

TileKernel kernel_of(ExprOp op, DType d, int lanes) {
  TileKernel k{.name = std::string(name_of(op))};
  TileBuilder b(k);
  const int32_t x = b.argument(d, false), y = b.argument(d, false), out = b.argument(d, true);
  b.loop(b.task_begin(), b.task_end(), b.integer(lanes), [&](Reg i) {
    std::vector<Reg> args{b.load(x, i, lanes)};
    if (operands_of(op) == 2) args.push_back(b.load(y, i, lanes));
    b.store(out, i, b.expr(op, args));
  });
  return k;
}

template <class T>
double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded) || std::isnan(got)) return std::isnan(rounded) && std::isnan(got) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    return std::fabs(want) > 0.999999L * std::numeric_limits<T>::max() && std::fabs(got) > 0.99L * std::numeric_limits<T>::max() ? 1 : 1e30;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : 1e29;
  const long double size = std::max<long double>(std::fabs(static_cast<long double>(rounded)), std::numeric_limits<T>::min());
  const long double unit = std::ldexp(1.0L, std::ilogb(size) - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

long double exact(ExprOp op, long double x, long double y) {
  switch (op) {
    case ExprOp::exp: return std::exp(x);
    case ExprOp::log: return std::log(x);
    case ExprOp::log1p: return std::log1p(x);
    case ExprOp::expm1: return std::expm1(x);
    case ExprOp::sin: return std::sin(x);
    case ExprOp::cos: return std::cos(x);
    case ExprOp::tan: return std::tan(x);
    case ExprOp::asin: return std::asin(x);
    case ExprOp::acos: return std::acos(x);
    case ExprOp::atan: return std::atan(x);
    case ExprOp::sinh: return std::sinh(x);
    case ExprOp::cosh: return std::cosh(x);
    case ExprOp::tanh: return std::tanh(x);
    case ExprOp::asinh: return std::asinh(x);
    case ExprOp::acosh: return std::acosh(x);
    case ExprOp::atanh: return std::atanh(x);
    case ExprOp::erf: return std::erf(x);
    case ExprOp::rem: return std::fmod(x, y);
    default: return std::pow(x, y);
  }
}

/// Edges, every binade, and dense samples where the functions bend.
template <class T>
std::vector<T> samples() {
  using L = std::numeric_limits<T>;
  std::vector<T> out{0,
                     -T(0),
                     1,
                     -1,
                     L::infinity(),
                     -L::infinity(),
                     L::quiet_NaN(),
                     L::min(),
                     L::denorm_min(),
                     L::max(),
                     L::lowest(),
                     T(0.5),
                     T(1) - L::epsilon(),
                     T(1) + L::epsilon(),
                     T(1e-30),
                     T(88.7),
                     T(89),
                     T(-87.4),
                     T(-103.9),
                     T(709.7),
                     T(709.8),
                     T(-745.2),
                     T(4),
                     T(6),
                     T(9)};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int e = L::min_exponent - 5; e < L::max_exponent; e += 1)
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<T>(std::ldexp(mantissa(random), e) * (i & 1 ? -1 : 1)));
  for (double range : {0.7, 3.0, 12.0, 100.0, 800.0, 1e6}) {
    std::uniform_real_distribution<double> x(-range, range);
    for (int i = 0; i < 8000; ++i) out.push_back(static_cast<T>(x(random)));
  }
  while (out.size() % 64) out.push_back(1);
  return out;
}

struct Limit {
  ExprOp op;
  double f32, f64;
};
constexpr Limit kLimits[] = {{ExprOp::exp, 1.1, 1.1},  {ExprOp::log, 0.51, 1.1}, {ExprOp::log1p, 0.51, 2}, {ExprOp::expm1, 0.51, 2.2},
                             {ExprOp::sin, 0.51, 1.1}, {ExprOp::cos, 0.51, 1.1}, {ExprOp::tan, 0.51, 2.6}, {ExprOp::asin, 0.51, 1.1},
                             {ExprOp::acos, 0.51, 2},  {ExprOp::atan, 0.51, 2},  {ExprOp::sinh, 0.51, 3},  {ExprOp::cosh, 0.51, 2.5},
                             {ExprOp::tanh, 1.5, 4},   {ExprOp::asinh, 0.51, 4}, {ExprOp::acosh, 0.51, 4}, {ExprOp::atanh, 0.51, 4},
                             {ExprOp::erf, 2.5, 2},    {ExprOp::pow, 0.51, 2},   {ExprOp::rem, 0, 0}};

template <class T>
void check(ExprOp op, DType d, const Target& target, double limit) {
  const TileKernel k = kernel_of(op, d, target.lanes());
  const MachineCode machine = emitted(k, target);
  if (machine.bytes.empty()) return;
  const Loaded code(machine);
  const std::vector<T> x = samples<T>();
  std::vector<T> y = x, out(x.size());
  std::shuffle(y.begin(), y.end(), std::mt19937(3));
  void* buffers[] = {const_cast<T*>(x.data()), y.data(), out.data()};
  code.run(0, k, buffers, {}, 0, static_cast<int64_t>(x.size()));
  const bool periodic = op == ExprOp::sin || op == ExprOp::cos || op == ExprOp::tan;
  double worst = 0, at = 0, at_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (periodic && !(std::fabs(x[i]) < 0x1p49)) {
      EXPECT_TRUE(std::isnan(out[i]));
      continue;
    }
    const double u = ulps<T>(out[i], exact(op, x[i], y[i]));
    if (u > worst) worst = u, at = x[i], at_y = y[i];
  }
  if (std::getenv("TENON_SHOW_ULP"))
    std::printf("%s %s %s %.3f at %a %a\n", target.name.data(), std::string(tenon::name_of(d)).c_str(), k.name.c_str(), worst, at, at_y);
  EXPECT_LE(worst, limit) << target.name << " " << k.name << " at " << at << ", " << at_y;
}

TEST(EmitMath, FunctionsStayWithinTheirBound) {
  for (const Target& target : targets())
    for (const Limit& l : kLimits) {
      check<float>(l.op, DType::f32, target, l.f32);
      check<double>(l.op, DType::f64, target, l.f64);
    }
}

}  // namespace
}  // namespace tenon::codegen
