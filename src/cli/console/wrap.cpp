// SPDX-License-Identifier: Apache-2.0
#include "cli/console/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tenon::cli {

std::vector<std::string> wrapped(std::string_view text, size_t width) {
  std::vector<std::string> out;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (out.empty() || out.back().size() + 1 + word.size() > width) out.push_back(std::move(word));
    else out.back() += " " + word;
  }
  return out;
}

size_t help_width() {
  constexpr size_t kLeast = 40, kUsual = 100, kMost = 120;
  size_t columns = 0;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (const char* set = std::getenv("COLUMNS"); columns == 0 && set) columns = std::strtoul(set, nullptr, 10);
  return columns == 0 ? kUsual : std::clamp(columns, kLeast, kMost);
}

}  // namespace tenon::cli
