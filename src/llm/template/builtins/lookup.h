// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/builtins/builtin.h"

/// Attributes, items and slices of values, with the restrictions of Jinja2's immutable sandbox.
namespace tenon::llm::jinja {

/// object.name: a method, else the item of that name, else an undefined value. Errors: an undefined object; not_supported for methods of
/// Python that are missing here.
Result<Value> attribute(RenderState& state, const Value& object, std::string_view name);
/// object[key]: the item, else the attribute of that name, else an undefined value. Errors: an undefined object.
Result<Value> item(RenderState& state, const Value& object, const Value& key);
/// object[start:stop:step]; absent and none: the ends, 1. Errors: objects without slices, other indices than ints, a step of 0.
Result<Value> slice(RenderState& state, const Value& object, const Value& start, const Value& stop, const Value& step);
/// The value at a dotted path, as filters take it as argument ('a.b.0'); path may be an int (one item) or absent (the object itself).
Result<Value> item_at_path(RenderState& state, const Value& object, const Value& path, const Value& otherwise);

}  // namespace tenon::llm::jinja
