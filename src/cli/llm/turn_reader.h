// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/llm/line_reader.h"

namespace tenon::cli {

class Console;

/// Reads the user's turns of a chat from stdin: a line each; a line that ends with a backslash continues on the next.
class TurnReader {
 public:
  explicit TurnReader(Console& console);
  /// Whether stdin is a terminal; then a prompt is shown.
  bool is_interactive() const { return is_interactive_; }
  /// The next turn; nullopt at the end of the input, or after a signal.
  std::optional<std::string> turn();

 private:
  std::optional<std::string> line(const char* prompt);

  Console& console_;
  bool is_interactive_;
  LineReader lines_;
};

}  // namespace tenon::cli
