// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace tenon::cli {

/// Lines of a descriptor.
class LineReader {
 public:
  explicit LineReader(int descriptor) : descriptor_(descriptor) {}
  /// Without its end; none at the end of the input, and where a signal comes first.
  std::optional<std::string> line();
  /// All that is left.
  std::string rest();

 private:
  /// False at the end, or where a signal comes.
  bool read_more();
  int descriptor_;
  std::string buffer_;
};

}  // namespace tenon::cli
