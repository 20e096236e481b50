// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <filesystem>
#include <vector>

namespace tenon::python {

/// The libraries that the environment variable TENON_PLUGINS names, then `plugins`.
std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins);
/// Seconds as milliseconds, rounded up. Raises TenonError: bad_usage where they are not above 0, or above 1e9.
std::chrono::milliseconds timeout_of(double seconds);

}  // namespace tenon::python
