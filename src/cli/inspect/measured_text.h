// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "plugin/public/plugins.h"

namespace tenon::cli {

class Console;

/// What a build measured of plugins: a row a candidate; nothing where it measured none.
void show_measured(std::span<const plugin::MeasuredNode> nodes, Console& console);

}  // namespace tenon::cli
