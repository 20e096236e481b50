// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "engine/reader.h"

namespace tenon::cli {

class Console;

/// The plugins that an engine needs: library, build, and the fields stored for each node; and times that its build measured. Nothing where
/// it needs none.
Result<void> show_plugins(const engine::Reader& reader, Console& console, nlohmann::ordered_json& out);

}  // namespace tenon::cli
