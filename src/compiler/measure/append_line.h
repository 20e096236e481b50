// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace tenon::compiler {

/// Adds a line to a file of measured times, which several processes may do at once; the folder is made where it is missing. Errors:
/// write_failed.
Result<void> append_line(const std::filesystem::path& path, const std::string& line);

}  // namespace tenon::compiler
