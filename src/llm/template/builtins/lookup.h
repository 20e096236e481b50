// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/builtins/builtin.h"

/// Attributes, items and slices of values, with what Jinja2's immutable sandbox leaves out.
namespace tenon::llm::jinja {

/// object.name: a method, else the item of that name, else an undefined value. Errors: an undefined object; not_supported for methods of
/// Python that are missing here.
Result<Value> attribute(RenderState& state, const Value& object, std::string_view name);
/// object[key]: the item, else the attribute of that name, else an undefined value. Errors: an undefined object.
Result<Value> item(RenderState& state, const Value& object, const Value& key);
/// object[start:stop:step]; absent and none: the ends, 1. Errors: objects without slices, other indices than ints, a step of 0.
Result<Value> slice(RenderState& state, const Value& object, const Value& start, const Value& stop, const Value& step);
/// The value that the parts of a dotted path lead to, as filters take them ('a.b.0'); an int: one item. Absent: the object itself.
Result<Value> item_at_path(RenderState& state, const Value& object, const Value& path, const Value& otherwise);

}  // namespace tenon::llm::jinja
