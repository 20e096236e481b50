// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "plugin/public/plugins.h"

namespace tenon::cli {

class Console;

/// Prints the times that a build measured for plugins, a row for each candidate; nothing where it measured none.
void show_measured(std::span<const plugin::MeasuredNode> nodes, Console& console);

}  // namespace tenon::cli
