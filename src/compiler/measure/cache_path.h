// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string_view>

namespace tenon::compiler {

/// The path of a file with measurements of this machine: $XDG_CACHE_HOME/tenon/FILE, else ~/.cache/tenon/FILE; empty where neither variable
/// (XDG_CACHE_HOME, HOME) is set.
std::filesystem::path cache_path(std::string_view file);
/// Overheads of backends, measured by `tenon calibrate` (class Calibration).
inline constexpr std::string_view kCalibrationFile = "overheads";

}  // namespace tenon::compiler
