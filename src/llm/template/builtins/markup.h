// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

/// Safe texts: Markup of MarkupSafe, the results of the filter 'safe'.
namespace tenon::llm::jinja {

/// The text with &, <, >, " and ' as entities.
std::string escaped(std::string_view text);
/// str(value), escaped unless it is safe.
Result<std::string> escaped_text_of(RenderState& state, const Value& value);
/// Marks texts in `value` as safe where `self` is safe.
Value as_safe_as(const Value& self, Value value);

}  // namespace tenon::llm::jinja
