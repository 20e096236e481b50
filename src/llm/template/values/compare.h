// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

/// Python's comparisons.
namespace tenon::llm::jinja {

/// ==, for keys: without counted steps. Values that take more than a million comparisons are different.
bool are_equal(const Value& a, const Value& b);
Result<bool> equal(RenderState& state, const Value& a, const Value& b);
/// a < b. Errors: values without an order, such as a text and a number.
Result<bool> less(RenderState& state, const Value& a, const Value& b);
/// item in container.
Result<bool> contains(RenderState& state, const Value& container, const Value& item);

/// The items that a loop over the value visits: characters, keys, ... What is left of a generator, which it consumes.
/// Errors: values that are not iterable.
Result<std::vector<Value>> items_of(RenderState& state, const Value& value);
bool is_iterable(const Value& value);
/// len(value). Errors: values without a length.
Result<int64_t> length_of(const Value& value);

}  // namespace tenon::llm::jinja
