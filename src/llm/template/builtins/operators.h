// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

/// Python's operators. Errors: operands of other types, division by zero, integers beyond 63 bits (not_supported).
namespace tenon::llm::jinja {

Result<Value> add(RenderState& state, const Value& a, const Value& b);
Result<Value> subtract(RenderState& state, const Value& a, const Value& b);
Result<Value> multiply(RenderState& state, const Value& a, const Value& b);
Result<Value> divide(RenderState& state, const Value& a, const Value& b);
Result<Value> floor_divide(RenderState& state, const Value& a, const Value& b);
/// a % b: of numbers the remainder with the sign of b; of a text printf-style formatting.
Result<Value> modulo(RenderState& state, const Value& a, const Value& b);
Result<Value> power(RenderState& state, const Value& a, const Value& b);
Result<Value> negate(RenderState& state, const Value& a);
/// +a
Result<Value> unary_plus(RenderState& state, const Value& a);

}  // namespace tenon::llm::jinja
