// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/result.h"
#include "engine/format.h"

namespace tenon::engine {

/// Advice of errors about damaged engines.
inline constexpr const char* kBuildAgain = "build the engine again, or copy it again from where it was built";
/// An error bad_file: "damaged engine: WHAT".
Error damaged(const std::string& place, std::string what, std::string expected, std::string found);
/// "12 bytes"
std::string count_of(uint64_t bytes);
/// Errors: bad_file (no engine, or a damaged header), wrong_target (another version of the format), limit_exceeded (sections).
Result<Header> read_header(std::span<const std::byte> bytes, const std::string& place);

}  // namespace tenon::engine
