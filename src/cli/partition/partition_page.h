// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <string>

#include "partition/constraints.h"

namespace tenon::cli {

/// One page without references to anything else (src/cli/page/partition.js) that shows the answer of `tenon partition --json`: segments in
/// their running order with the values that cross their boundaries, and tables of nodes, reasons, borders. Bodies are opened from their
/// node.
std::string partition_page(const std::string& title, const nlohmann::ordered_json& answer, const partition::Roles& roles);

}  // namespace tenon::cli
