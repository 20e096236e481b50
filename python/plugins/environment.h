// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <vector>

namespace tenon::python {

/// Libraries of plugins: those of TENON_PLUGINS, then these.
std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins);

}  // namespace tenon::python
