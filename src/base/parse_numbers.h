// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::inline base {

// Parse numbers of the text form. nullopt where the whole text is no such number, or it is out of range.

std::optional<int64_t> read_integer(std::string_view text);
std::optional<uint64_t> read_unsigned(std::string_view text);
/// Also inf and nan.
std::optional<double> read_float(std::string_view text);
/// Parses an f32 directly: by way of double it would be rounded twice.
std::optional<float> read_f32(std::string_view text);
/// Whether the text has a decimal point or exponent, or is inf or nan.
bool is_float_text(std::string_view text);

}  // namespace tenon::inline base
