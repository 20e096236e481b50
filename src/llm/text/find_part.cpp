// SPDX-License-Identifier: Apache-2.0
#include "llm/text/find_part.h"

#include <cstring>
#include <string>

namespace tenon::llm {

size_t find_part(std::string_view text, std::string_view part, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  const void* const at = memmem(text.data() + from, text.size() - from, part.data(), part.size());  // two-way, of glibc and musl
  return at ? static_cast<size_t>(static_cast<const char*>(at) - text.data()) : std::string_view::npos;
}

size_t find_last_part(std::string_view text, std::string_view part) {
  const size_t at = find_part(std::string(text.rbegin(), text.rend()), std::string(part.rbegin(), part.rend()));
  return at == std::string_view::npos ? at : text.size() - at - part.size();
}

}  // namespace tenon::llm
