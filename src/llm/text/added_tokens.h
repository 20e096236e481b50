// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "llm/text/regex.h"
#include "llm/text/vocabulary.h"

namespace tenon::llm {

/// A token whose text is searched for literally in a text, before byte pair encoding.
struct AddedToken {
  std::string text;
  TokenId id = kNoToken;
  bool special = false;       ///< a control token, such as <|im_start|>; ignored where options.parse_special is false
  bool normalized = false;    ///< searched for in the normalized text
  bool strips_left = false;   ///< includes the white space before it
  bool strips_right = false;  ///< includes the white space after it
  bool single_word = false;   ///< not matched within a word
};

/// Finds added tokens: at each place the longest one, from left to right.
class AddedTokens {
 public:
  static constexpr size_t kLongest = 1024;
  struct Found {
    TextRange range;
    TokenId id = kNoToken;
  };

  /// Errors: limit_exceeded (a text of over kLongest bytes). Texts that are empty or no UTF-8 are never found.
  Result<void> add(const AddedToken& token, std::string_view place);
  bool empty() const { return tokens_.empty(); }
  /// In order, without overlap. Cost: linear; at most kLongest a byte.
  std::vector<Found> find(std::string_view text, bool special) const;

 private:
  struct Node {
    int32_t token = -1;  // index in tokens_
    bool leaf = true;
  };
  const AddedToken* longest_at(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_{1};
  std::unordered_map<uint64_t, uint32_t> children_;  // of a node by its index and a byte
  std::array<bool, 256> first_{};                    // the bytes that a text begins with
};

}  // namespace tenon::llm
