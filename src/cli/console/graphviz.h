// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// Runs Graphviz on `dot` text. Errors: device_failed (dot is not installed, fails, or takes more than two minutes).
Result<std::string> render_svg(std::string_view dot);
/// One picture a graph, from one run of Graphviz: starting it costs more than a small picture.
Result<std::vector<std::string>> render_svgs(std::span<const std::string> dots);
/// &, < and > as entities.
std::string escape_html(std::string_view text);

}  // namespace tenon::cli
