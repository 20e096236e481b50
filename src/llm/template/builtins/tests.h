// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// Tests of Jinja2: what follows 'is'.
bool is_test(std::string_view name);
/// "did you mean ...?" for an unknown name; else "".
std::string nearest_test(std::string_view name);
/// Errors: unknown tests too.
Result<bool> apply_test(RenderState& state, std::string_view name, const Value& value, Arguments arguments);

}  // namespace tenon::llm::jinja
