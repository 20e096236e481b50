// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string_view>

namespace tenon::compiler {

/// Where what was measured on this machine is kept: $XDG_CACHE_HOME/tenon/FILE, else ~/.cache/tenon/FILE; empty where there is neither.
std::filesystem::path cache_path(std::string_view file);
/// What `tenon calibrate` found.
inline constexpr std::string_view kCalibrationFile = "overheads";

}  // namespace tenon::compiler
