// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/builtins/builtin.h"

namespace tenon::llm::jinja {

/// Methods of Python's str. What they return is safe where the text is.
std::span<const Builtin> case_methods();
std::span<const Builtin> search_methods();
std::span<const Builtin> split_methods();
/// nullptr where there is none.
const Builtin* text_method(std::string_view name);
/// Methods of Python's str that are not supported yet.
bool is_other_text_method(std::string_view name);

}  // namespace tenon::llm::jinja
