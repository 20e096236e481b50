// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/turn_reader.h"

#include <unistd.h>

#include "cli/console/console.h"

namespace tenon::cli {

TurnReader::TurnReader(Console& console) : console_(console), is_interactive_(isatty(STDIN_FILENO) == 1), lines_(STDIN_FILENO) {}

std::optional<std::string> TurnReader::line(const char* prompt) {
  if (is_interactive_) console_.piece(prompt);
  return lines_.line();
}

std::optional<std::string> TurnReader::turn() {
  auto out = line("> ");
  while (out && out->ends_with('\\')) {
    out->back() = '\n';
    const auto more = line("  ");
    if (!more) break;
    *out += *more;
  }
  return out;
}

}  // namespace tenon::cli
