// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// What a record of a zip archive begins with.
inline constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
inline constexpr uint16_t kZip64Field = 1;
/// Marks a number that is in a field or record of 64 bits.
inline constexpr uint32_t kIn64 = 0xffffffff;

/// bad_file. what: "its files overlap".
Error bad_zip(const std::string& place, const char* what);

}  // namespace tenon::files
