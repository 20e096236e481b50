// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// str.format: fields {}, {0} and {name} with !s, !r and a specification. Source: Python's format string syntax. Errors: also not_supported
/// for fields inside of specifications, attributes and items.
Result<Value> brace_format(RenderState& state, const Value& format, const Arguments& arguments);

}  // namespace tenon::llm::jinja
