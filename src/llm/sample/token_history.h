// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::llm {

/// The tokens of a sequence with their counts, for penalties. 4 bytes for each token of the vocabulary, and no allocation after
/// construction.
class TokenHistory {
 public:
  explicit TokenHistory(size_t vocabulary);
  /// Adds the tokens of the prompt. Tokens outside of the vocabulary are ignored.
  void add_prompt(std::span<const int32_t> tokens);
  /// A token of the answer. Cost: constant.
  void add(int32_t token);
  void clear();

  /// Tokens of the prompt and the answer, each once.
  std::span<const int32_t> tokens() const { return tokens_; }
  /// The number of occurrences of a token in the answer.
  uint32_t answer_count(int32_t token) const { return marks_[static_cast<size_t>(token)] >> 1; }

 private:
  uint32_t* mark(int32_t token);
  std::vector<uint32_t> marks_;  ///< bit 0: it is in tokens_; above: its count in the answer
  std::vector<int32_t> tokens_;
};

}  // namespace tenon::llm
