// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "plugin/public/plugins.h"

namespace tenon::cli {

/// The full description of an op of a plugin library.
std::vector<std::string> lines_of(const plugin::Op& op);
/// The first lines of lines_of(): key, description, operands, results, fields.
std::vector<std::string> declaration_lines(const plugin::Op& op);
nlohmann::ordered_json json_of(const plugin::Op& op);
nlohmann::ordered_json json_of(const plugin::Library& library);
/// Operands or results as a short text for a table: "x, mask?, others*".
std::string names_of(const std::vector<tenon_port>& ports);
/// What computes the op: "own and definition", "own", "definition".
std::string computed_by(const plugin::Op& op);

}  // namespace tenon::cli
