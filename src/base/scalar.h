// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace tenon::inline base {

/// Brings a 64-bit integer to the range of `dtype` by dropping high bits and extending the sign; bool gives 0 or 1.
/// u64 values are stored as their bit pattern.
int64_t wrap_integer(DType dtype, int64_t value);
/// Truncates towards zero, then wraps (modulo 2^64 beyond 64 bits; NaN and infinity give 0); bool: != 0.
int64_t wrap_number(DType dtype, double value);
/// Truncates towards zero; out of range gives the nearest value that fits, NaN gives 0; bool: != 0.
int64_t saturate_number(DType dtype, double value);
/// The value of an integer of `dtype` as a double (u64 patterns are read as unsigned).
double number_of_integer(DType dtype, int64_t value);
/// IEEE 754-2019's minimum and maximum: NaN where either operand is NaN, and -0 is smaller than +0. All of Tenon means these by min and
/// max: the operators of the scalar language, reductions, and the ops that are made of them. (ONNX leaves the sign of zero open.)
double minimum(double a, double b);
double maximum(double a, double b);
/// The double nearest to what `dtype` (a float) stores for `value`; small floats saturate.
double round_to(DType dtype, double value);
/// The float `dtype` nearest to an integer, rounded once.
double round_integer_to(DType dtype, DType source, int64_t value);

}  // namespace tenon::inline base
