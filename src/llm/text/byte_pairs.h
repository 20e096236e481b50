// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "llm/text/merges.h"

namespace tenon::llm {

/// Byte pair encoding of words: the tokens of a word's characters are merged pair by pair, by the ranks of pairs (GPT-2, tokenizer.json) or
/// by the scores of the merged tokens (SentencePiece, GGUF's `llama`).
class BytePairs {
 public:
  Vocabulary vocabulary;
  Merges merges;
  std::vector<float> scores;   ///< by id; empty: ranks of `merges` decide
  std::vector<bool> reserved;  ///< by id: never made from the characters of a text
  TokenId unknown = kNoToken;  ///< for characters that are no token
  bool byte_fallback = false;  ///< such characters become tokens <0x00> to <0xFF> first, where all of them are there
  bool fuse_unknown = false;   ///< several unknown characters in a row become one token
  bool whole_words = false;    ///< a word that is a token is not merged from its characters

  /// Fills the tables for encode(). To be called when the vocabulary is complete.
  void prepare();
  /// Appends the tokens of a word, which is sound UTF-8 of less than 2 GB. Characters that are no token, have no bytes and no unknown
  /// token are left out. Cost: n log n.
  void encode(std::string_view word, MergeQueue& queue, std::vector<TokenId>& out) const;
  /// The token of a byte; kNoToken where there is none.
  TokenId byte_token(unsigned char byte) const { return bytes_[byte]; }
  /// The byte of a token <0x00> to <0xFF>.
  std::optional<unsigned char> byte_of(TokenId id) const;

 private:
  bool is_free(TokenId id) const {
    return id != kNoToken && (static_cast<size_t>(id) >= reserved.size() || !reserved[static_cast<size_t>(id)]);
  }
  void first_symbols(std::string_view word, std::vector<Symbol>& symbols) const;
  bool add_bytes(std::string_view character, uint32_t begin, std::vector<Symbol>& symbols) const;
  std::array<TokenId, 256> bytes_{};
  std::array<TokenId, 0x800> characters_{};  // of the characters of one and two bytes
};

}  // namespace tenon::llm
