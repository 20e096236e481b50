// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <span>

#include "plugin/public/plugins.h"

namespace tenon::compiler {

/// `plugin_times` of answers in JSON: a row a kind of node, its candidates with microseconds, null of what was dropped.
nlohmann::ordered_json measured_data(std::span<const plugin::MeasuredNode> nodes);

}  // namespace tenon::compiler
