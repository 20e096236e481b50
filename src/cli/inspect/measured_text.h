// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <span>

#include "plugin/measured_node.h"

namespace tenon::cli {

class Console;

/// What a build measured of plugins: a row a candidate; nothing where it measured none.
void show_measured(std::span<const plugin::MeasuredNode> nodes, Console& console);
/// The same; times in microseconds, null of what was dropped.
nlohmann::ordered_json measured_data(std::span<const plugin::MeasuredNode> nodes);

}  // namespace tenon::cli
