// SPDX-License-Identifier: Apache-2.0
#include "llm/text/find_substring.h"

#include <cstring>
#include <string>

namespace tenon::llm {

size_t find_substring(std::string_view text, std::string_view pattern, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (pattern.empty()) return from;
  const void* const match =
      memmem(text.data() + from, text.size() - from, pattern.data(), pattern.size());  // the two-way algorithm in glibc and musl
  return match ? static_cast<size_t>(static_cast<const char*>(match) - text.data()) : std::string_view::npos;
}

size_t find_last_substring(std::string_view text, std::string_view pattern) {
  const size_t at = find_substring(std::string(text.rbegin(), text.rend()), std::string(pattern.rbegin(), pattern.rend()));
  return at == std::string_view::npos ? at : text.size() - at - pattern.size();
}

}  // namespace tenon::llm
