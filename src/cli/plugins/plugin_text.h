// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plugin/public/plugins.h"

namespace tenon::cli {

/// All that an op of a plugin library says of itself.
std::vector<std::string> lines_of(const plugin::Op& op);
/// The first of them: key, description, operands, results, fields.
std::vector<std::string> declaration_lines(const plugin::Op& op);
nlohmann::ordered_json json_of(const plugin::Op& op);
nlohmann::ordered_json json_of(const plugin::Library& library);
/// "x, mask?, others*": operands or results as a table has room for.
std::string names_of(const std::vector<tenon_port>& ports);
/// What computes it: "own and definition", "own", "definition".
std::string computed_by(const plugin::Op& op);

}  // namespace tenon::cli
