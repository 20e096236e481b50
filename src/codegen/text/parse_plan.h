// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "codegen/plan/plan.h"
#include "ir/text.h"

namespace tenon::codegen {

/// Reads what text_of(plan, constants) writes, see codegen/plan/text.h, and verifies it. Its sizes are over `symbols`. What the text leaves
/// out: limits are the defaults, nests and groups have no nodes, an array that is a value has its own number for a handle, and segments
/// have their backend alone. Printed again, the text is the same.
/// Errors: bad_graph with line and column; bad_graph for a plan that is not sound, with the first invariant that does not hold;
/// limit_exceeded: 64 MiB of text, 64 dimensions or axes, 500 levels of nesting in an expression.
Result<Plan> parse_plan(std::string_view text, Symbols& symbols, const ir::TextConstants* constants = nullptr);

}  // namespace tenon::codegen
