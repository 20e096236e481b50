// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::llm {

/// Finds stop strings in a text that arrives in pieces, also across piece boundaries. A suffix that may begin a stop string is held back.
class StopStrings {
 public:
  /// Empty strings are refused: bad_usage.
  static Result<StopStrings> make(std::vector<std::string> strings);

  /// Appends to `shown` the text that is certain to be before the first stop string (the one that ends first; of several, the longest).
  /// Nothing is appended after that string. The result does not depend on how the text is cut into pieces.
  /// Cost: linear in the piece and the longest string, times the number of strings.
  void add(std::string_view piece, std::string& shown);
  /// The text has ended: appends what was held back.
  void finish(std::string& shown);
  /// Whether a stop string was found.
  bool has_stopped() const { return stopped_; }
  void reset();

 private:
  explicit StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {}
  /// Bytes at the end of the held text that begin a stop string.
  size_t pending() const;

  std::vector<std::string> strings_;
  std::string held_;
  bool stopped_ = false;
};

/// Tokens that end an answer.
class StopTokens {
 public:
  explicit StopTokens(std::vector<int32_t> tokens) : tokens_(std::move(tokens)) {}
  bool contains(int32_t token) const;

 private:
  std::vector<int32_t> tokens_;
};

}  // namespace tenon::llm
