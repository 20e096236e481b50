// SPDX-License-Identifier: Apache-2.0
#include "llm/text/normalizers.h"

#include <utility>

#include "llm/text/byte_alphabet.h"
#include "llm/text/utf8.h"

namespace tenon::llm {

Normalizer normal_form(NormalForm form) {
  return [form](std::string text) -> Result<std::string> { return normalized(text, form); };
}

Normalizer lower_cased() {
  return [](std::string text) -> Result<std::string> { return lower_case(text); };
}

Normalizer replaced(Finder find, std::string content) {
  return [find = std::move(find), content = std::move(content)](std::string text) -> Result<std::string> {
    const auto matches = TRY(find(text));
    if (matches.empty()) return text;
    std::string out;
    size_t end = 0;
    for (const TextRange& match : matches) {
      out.append(text, end, match.begin - end);
      out += content;
      end = match.end;
    }
    out.append(text, end);
    return out;
  };
}

Normalizer prepended(std::string content) {
  return [content = std::move(content)](std::string text) -> Result<std::string> { return text.empty() ? text : content + text; };
}

Normalizer stripped(bool left, bool right) {
  return [left, right](std::string text) -> Result<std::string> {
    size_t begin = text.size(), end = 0;  // of what is no white space
    for (size_t at = 0; at < text.size();) {
      const Utf8Step step = utf8_step(text, at);
      if (!is_space(step.code)) {
        begin = std::min(begin, at);
        end = at + step.length;
      }
      at += step.length;
    }
    if (!left) begin = 0;
    if (!right) end = text.size();
    return begin < end ? text.substr(begin, end - begin) : "";
  };
}

Normalizer without_accents() {
  return [](std::string text) -> Result<std::string> {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const Utf8Step step = utf8_step(text, at);
      if (!is_mark(step.code)) out.append(text, at, step.length);
      at += step.length;
    }
    return out;
  };
}

Normalizer byte_characters() {
  return [](std::string text) -> Result<std::string> {
    std::string out;
    append_byte_characters(out, text);
    return out;
  };
}

}  // namespace tenon::llm
