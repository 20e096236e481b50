// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>

#include "codegen/llvm/vector.h"

namespace tenon::codegen::machine {

/// On f64 registers. Largest errors seen, in ULP: exp 1, expm1 2, log 1, log1p 2, sin and cos 1 (|x| < 2^49, NaN beyond), tan 2, asin 1,
/// acos 2, atan 2, sinh 2, cosh 2, tanh 3, asinh 3, acosh 3, atanh 3, erf 2, pow 2. NaN, infinities, signed zeros and denormals as in C.
namespace f64 {
V exp(V x);
V expm1(V x);
V log(V x);
V log1p(V x);
V sin(V x);
V cos(V x);
V tan(V x);
V asin(V x);
V acos(V x);
V atan(V x);
V sinh(V x);
V cosh(V x);
V tanh(V x);
V asinh(V x);
V acosh(V x);
V atanh(V x);
V erf(V x);
V pow(V x, V y);
/// Right to 2^-45: enough for arguments that came from f32.
V pow_for_f32(V x, V y);

inline constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
/// Bits whose low 51 hold the integral n, |n| < 2^50, in two's complement. (Adding 1.5 * 2^52 is one instruction on every CPU; the
/// conversion to i64 is not.)
V low_bits(V n);
/// ln 2 in two parts; count * kLn2Hi is exact for |count| < 2^11.
inline constexpr double kLn2Hi = 0x1.62e42fefa38p-1, kLn2Lo = 0x1.ef35793c7673p-45;
/// x = 2^exponent * (1 + f), 1 + f in [sqrt(1/2), sqrt(2)); x > 0 and finite.
struct LogParts {
  V f, exponent;
};
LogParts log_parts(V x);
}  // namespace f64

/// The hot functions on f32 registers, branch-free. Largest errors seen, in ULP: exp 1.1 (denormal results too), tanh 1.3, erf 2.4, and
/// 1.4 where the target looks coefficients up (math_tables.h).
namespace f32 {
V exp(const Target& target, V x);
V tanh(const Target& target, V x);
V erf(const Target& target, V x);
}  // namespace f32

}  // namespace tenon::codegen::machine
