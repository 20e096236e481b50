// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

namespace tenon::codegen::machine::f32 {

inline constexpr int kTableParts = 32;

/// f(a) / a for an odd function f and a >= 0: around part * step, within half a step, sum over k of coefficients[k][part] * t^k with
/// t = a - part * step. After the last part f is 1 to the last bit of f32. (oneDNN looks up coefficients of its GELU in this way.)
struct Table {
  double step;
  std::span<const double[kTableParts]> coefficients;
};

extern const Table erf_table, tanh_table;

}  // namespace tenon::codegen::machine::f32
