// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

/// Markup of MarkupSafe: what the filter 'safe' makes.
namespace tenon::llm::jinja {

/// &, <, >, " and ' as entities.
std::string escaped(std::string_view text);
/// str(value), escaped unless it is safe.
Result<std::string> escaped_text_of(RenderState& state, const Value& value);
/// Texts in it become safe where `self` is.
Value as_safe_as(const Value& self, Value value);

}  // namespace tenon::llm::jinja
