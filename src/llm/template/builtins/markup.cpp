// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/markup.h"

#include "llm/template/values/written.h"

namespace tenon::llm::jinja {

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&#34;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

Result<std::string> escaped_text_of(RenderState& state, const Value& value) {
  std::string text = TRY(text_of(state, value));
  if (value.is_safe()) return text;
  TRY(state.take(text.size(), 6));
  return escaped(text);
}

Value as_safe_as(const Value& self, Value value) {
  if (!self.is_safe()) return value;
  if (const std::string* text = value.text()) return Value::text(*text, true);
  const Sequence* sequence = value.sequence();
  if (!sequence) return value;
  Sequence out = *sequence;
  for (Value& item : out.items) item = as_safe_as(self, std::move(item));
  return Value::sequence(std::move(out));
}

}  // namespace tenon::llm::jinja
