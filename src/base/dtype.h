// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "tenon/types.h"

namespace tenon::inline base {

using v1::DType;
using v1::name_of;
using v1::ValueKind;
inline constexpr int kDTypeCount = 27;

std::optional<DType> dtype_named(std::string_view name);
std::optional<DType> dtype_from_onnx(int64_t number);

/// Bits an element takes in memory; 4-bit and 2-bit types are packed two and four to a byte. 0 for what has no bytes of its own: string,
/// sequence, optional and none.
int bits_of(DType dtype);
/// Bytes that `count` elements take, packed types rounded up; count >= 0 and below 2^58.
int64_t bytes_of(DType dtype, int64_t count);

bool is_float(DType dtype);    ///< f16, bf16, f32, f64 and all 8- and 4-bit floats
bool is_integer(DType dtype);  ///< signed and unsigned, without bool
bool is_signed(DType dtype);   ///< signed integers and floats
inline bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }
/// Whether it is a float type with arithmetic: f16, bf16, f32 or f64. Other floats (of 8 and 4 bits) are only stored and cast.
inline bool is_arithmetic_float(DType d) { return d == DType::f32 || d == DType::f64 || d == DType::f16 || d == DType::bf16; }

/// Whether `to` has every value of `from`. For bool, integers, f16, bf16, f32 and f64; of other types only where both are the same.
bool is_lossless_cast(DType from, DType to);

/// The value of a stored float bit pattern (low bits of `bits`), exact.
double decode_float(DType dtype, uint64_t bits);
/// Rounds to nearest even. `saturate`: out of range goes to the largest finite value for the 8- and 4-bit types
/// (as ONNX Cast does by default), else to infinity or NaN.
uint64_t encode_float(DType dtype, double value, bool saturate = true);

}  // namespace tenon::inline base
