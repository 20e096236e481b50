// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace tenon::ops {

/// Arithmetic modulo 2^64: overflow wraps around and is not undefined behaviour.
inline int64_t wrap_add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
inline int64_t wrap_sub(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
inline int64_t wrap_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
/// Smallest and largest value of an integer type or bool, as the bits of an int64.
int64_t smallest_integer(DType dtype);
int64_t largest_integer(DType dtype);

}  // namespace tenon::ops
