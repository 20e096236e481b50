// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tenon::files {

/// UTF-32 code points, zeros at the end dropped, to UTF-8; what is no character becomes U+FFFD.
std::string utf8_of_utf32(std::span<const std::byte> bytes, bool big_endian);
/// UTF-8 to little-endian UTF-32; what is no UTF-8 becomes U+FFFD, a byte each.
std::string utf32_of_utf8(std::string_view text);

}  // namespace tenon::files
