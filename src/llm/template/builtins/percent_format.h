// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// format % arguments: a tuple's items in order, a dict's values by name, or one value. Source: Python's printf-style formatting.
Result<Value> percent_format(RenderState& state, const Value& format, const Value& arguments);

}  // namespace tenon::llm::jinja
