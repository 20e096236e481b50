// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llm/template/values/render_state.h"

/// Values as text, as Python writes them.
namespace tenon::llm::jinja {

/// str(value): a text is itself, an undefined value nothing.
Result<std::string> text_of(RenderState& state, const Value& value);
/// repr(value)
Result<std::string> repr_of(RenderState& state, const Value& value);
std::string repr_of(std::string_view text);
/// The shortest decimal that reads as the same number: 0.1, 1e+16, inf.
std::string text_of(double value);

struct JsonStyle {
  bool ascii = false;                 ///< characters beyond ASCII as \\uXXXX
  std::optional<std::string> indent;  ///< of one level; empty: all on one line
  std::string item_separator = ", ", key_separator = ": ";
  bool sorts_keys = false;
};
/// json.dumps(value). Errors: values that JSON does not have.
Result<std::string> json_of(RenderState& state, const Value& value, const JsonStyle& style);

}  // namespace tenon::llm::jinja
