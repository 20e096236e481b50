// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "rewrite/equation.h"

namespace tenon::rewrite {

/// One argument of a named function: a graph value or an attribute value.
using Argument = Bindings::Slot;

/// What `name(arguments)` is; nullopt where it has no answer (which makes a condition false and a match fail).
///   predicates (0 or 1): float, integer, bool, constant, scalar, splat, finite, present, same_shape, same_type, last_axis, no_axis, suffix
///   quantities: rank, size (elements), dim(?x, axis), uses
///   attribute functions: value(?c) the number of a constant, ints(?c), compose(?p, ?q), inverse(?p), add, multiply, divide
std::optional<ir::Attribute> call(std::string_view name, const Match& match, std::span<const Argument> arguments);
bool function_exists(std::string_view name);
std::optional<double> as_number(const ir::Attribute& attribute);

}  // namespace tenon::rewrite
