// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "plugin/library.h"

namespace tenon::runtime {

/// Opens the libraries of plugins inside an engine file: code of whoever made the file. Errors: those of engine::Reader and
/// plugin::open_embedded; bad_usage where the engine holds none.
Result<std::vector<std::shared_ptr<const plugin::Library>>> embedded_plugins(const std::filesystem::path& engine,
                                                                             const plugin::Logger& logger = {});

}  // namespace tenon::runtime
