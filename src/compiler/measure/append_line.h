// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

#include "base/result.h"

namespace tenon::compiler {

/// Appends a line to a file of measurements. Several processes may append to one file at the same time. Creates the folder where it is
/// missing. Errors: write_failed.
Result<void> append_line(const std::filesystem::path& path, const std::string& line);

}  // namespace tenon::compiler
