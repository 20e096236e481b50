// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "codegen/plan/plan.h"
#include "ir/text.h"

namespace tenon::codegen {

/// Parses the text of a plan (codegen/plan/text.h), and verifies the plan. symbols: receives the symbols of its sizes. The text lacks some
/// fields: limits are the defaults, nests and groups have no nodes, array vN has value N in place of that of the graph, and segments have
/// only their backend. Printing the plan gives the same text. Errors: bad_graph with line and column; bad_graph for a plan that is not
/// sound, with the first invariant that does not hold; limit_exceeded: 64 MiB of text, 64 dimensions or axes, 500 levels of nesting in an
/// expression.
Result<Plan> parse_plan(std::string_view text, Symbols& symbols, const ir::TextConstants* constants = nullptr);

}  // namespace tenon::codegen
