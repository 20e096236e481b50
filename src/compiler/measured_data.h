// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "plugin/public/plugins.h"

namespace tenon::compiler {

/// The field `plugin_times` of JSON outputs: for each kind of node its candidates with their times in microseconds, null for a candidate
/// that was rejected.
nlohmann::ordered_json measured_data(std::span<const plugin::MeasuredNode> nodes);

}  // namespace tenon::compiler
