// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "llm/template/values/render_state.h"

namespace tenon::llm::jinja {

/// The functions that every template has: range, dict, namespace, raise_exception, strftime_now. Absent for other names. Errors:
/// not_supported for those of Jinja2 that are missing here.
Result<Value> global(std::string_view name);

}  // namespace tenon::llm::jinja
