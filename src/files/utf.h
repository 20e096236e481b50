// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tenon::files {

/// Converts UTF-32 to UTF-8, without zeros at the end; invalid code points become U+FFFD.
std::string utf8_of_utf32(std::span<const std::byte> bytes, bool big_endian);
/// Converts UTF-8 to little-endian UTF-32; each invalid byte becomes U+FFFD.
std::string utf32_of_utf8(std::string_view text);

}  // namespace tenon::files
