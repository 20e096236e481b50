// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"

namespace tenon::files {

/// Signatures of the records of a zip archive.
inline constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
/// Type of the extra field that has 64-bit sizes and offsets.
inline constexpr uint16_t kZip64Field = 1;
/// A size or offset with this value is in the zip64 extra field instead.
inline constexpr uint32_t kIn64 = 0xffffffff;

/// The error bad_file of a damaged archive. what: "its files overlap".
Error bad_zip(const std::string& place, const char* what);

}  // namespace tenon::files
