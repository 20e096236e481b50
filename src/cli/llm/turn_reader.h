// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "cli/llm/line_reader.h"

namespace tenon::cli {

class Console;

/// The turns of a chat that stdin has: a line is one, and continues on the next where it ends with a backslash.
class TurnReader {
 public:
  explicit TurnReader(Console& console);
  /// Whether a person types, who is shown where.
  bool by_hand() const { return by_hand_; }
  /// None at the end of the input, and where a signal comes first.
  std::optional<std::string> turn();

 private:
  std::optional<std::string> line(const char* prompt);

  Console& console_;
  bool by_hand_;
  LineReader lines_;
};

}  // namespace tenon::cli
