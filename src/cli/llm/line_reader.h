// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace tenon::cli {

/// Reads lines from a file descriptor.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}
  /// The next line without its line end; nullopt at the end of the input, or after a signal.
  std::optional<std::string> line();
  /// The rest of the input.
  std::string rest();

 private:
  /// Reads more bytes; false at the end of the input, or after a signal.
  bool read_more();
  int descriptor_;
  std::string buffer_;
};

}  // namespace tenon::cli
