// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::ir {

// Numbers of the text form. None where the whole text is no such number, or it does not fit.

std::optional<int64_t> read_integer(std::string_view text);
std::optional<uint64_t> read_unsigned(std::string_view text);
/// inf and nan too.
std::optional<double> read_float(std::string_view text);
/// Straight to f32: by way of double it would be rounded twice.
std::optional<float> read_single(std::string_view text);
/// It has a point, an exponent, or is inf or nan.
bool is_float_text(std::string_view text);

}  // namespace tenon::ir
