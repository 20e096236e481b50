// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/builtins/builtin.h"

namespace tenon::llm::jinja {

/// Methods of a dict, or of a list, tuple or range; nullptr where there is none.
const Builtin* container_method(const Value& container, std::string_view name);
/// Methods that change a list or a dict, which the sandbox refuses.
bool is_mutating_method(const Value& container, std::string_view name);

/// A sequence of a dict's keys, values or items.
Value view_of(const Dictionary& dictionary, SequenceKind kind);

}  // namespace tenon::llm::jinja
