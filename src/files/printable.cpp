// SPDX-License-Identifier: Apache-2.0
#include "files/printable.h"

#include <fmt/format.h>

namespace tenon::files {

std::string printable(std::string_view name) {
  constexpr size_t kMaxBytes = 80;
  std::string out;
  for (char c : name.substr(0, kMaxBytes)) {
    if (c >= ' ' && c <= '~') out += c;
    else out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return name.size() > kMaxBytes ? out + "..." : out;
}

}  // namespace tenon::files
