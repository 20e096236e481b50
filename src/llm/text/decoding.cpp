// SPDX-License-Identifier: Apache-2.0
#include "llm/text/decoding.h"

#include "llm/text/byte_alphabet.h"
#include "llm/text/find_substring.h"
#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

std::string with_replacement(const std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  std::string out;
  size_t end = 0;
  for (size_t at = find_substring(text, from); at != std::string::npos; at = find_substring(text, from, end)) {
    out.append(text, end, at - end);
    out += to;
    end = at + from.size();
  }
  return out.append(text, end);
}

}  // namespace

std::string bytes_of_token(const Decoding& decoding, std::string_view text, std::optional<unsigned char> byte, bool literal) {
  if (byte) return std::string(1, static_cast<char>(*byte));
  if (literal) return std::string(text);
  if (decoding.byte_level)
    if (auto bytes = bytes_of_characters(text)) return std::move(*bytes);
  std::string out(text);
  for (const auto& [from, to] : decoding.replacements) out = with_replacement(out, from, to);
  return out;
}

std::string Utf8Stream::push(std::string_view bytes) {
  rest_ += bytes;
  size_t whole = 0;
  while (whole < rest_.size()) {
    const Utf8Step step = utf8_step(rest_, whole);
    if (step.cut) break;
    whole += step.length;
  }
  std::string out = sound_utf8(std::string_view(rest_).substr(0, whole));
  rest_.erase(0, whole);
  return out;
}

std::string Utf8Stream::finish() {
  std::string out = sound_utf8(rest_);
  rest_.clear();
  return out;
}

}  // namespace tenon::llm
