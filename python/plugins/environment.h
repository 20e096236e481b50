// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <filesystem>
#include <vector>

namespace tenon::python {

/// Libraries of plugins: those of TENON_PLUGINS, then these.
std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins);
/// Of seconds. Errors: bad_usage for none, or too many to count.
std::chrono::milliseconds patience_of(double seconds);

}  // namespace tenon::python
