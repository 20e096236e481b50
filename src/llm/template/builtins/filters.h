// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "llm/template/builtins/builtin.h"

namespace tenon::llm::jinja {

/// Filters of Jinja2, and transformers' tojson.
bool is_filter(std::string_view name);
/// "did you mean ...?" for an unknown name; else "".
std::string nearest_filter(std::string_view name);
/// Errors: unknown filters too; not_supported for those of Jinja2 that are missing here.
Result<Value> apply_filter(RenderState& state, std::string_view name, const Value& value, Arguments arguments);

std::span<const Builtin> text_filters();
std::span<const Builtin> number_filters();
std::span<const Builtin> sequence_filters();
std::span<const Builtin> order_filters();
std::span<const Builtin> selection_filters();

}  // namespace tenon::llm::jinja
