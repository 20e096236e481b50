// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/text/added_tokens.h"
#include "llm/text/byte_pairs.h"
#include "llm/text/decoding.h"
#include "llm/text/normalizers.h"
#include "llm/text/pre_tokenizers.h"

namespace tenon::llm {

/// Special tokens by purpose, where the checkpoint defines them.
struct SpecialTokens {
  std::optional<TokenId> begin, end, unknown, padding;
  std::vector<TokenId> end_of_generation;  ///< `end` and others that end an answer (<|im_end|>); sorted
};

struct EncodeOptions {
  bool add_special = true;    ///< add the tokens that the tokenizer puts around a text, such as <s>
  bool parse_special = true;  ///< names of special tokens in the text become these tokens; false: they are encoded as letters, which
                              ///< is the safe choice for untrusted text
};

struct DecodeOptions {
  bool skip_special = true;  ///< leave special tokens out
  bool continues = false;    ///< the text continues another one: its leading space is kept
};

/// The parts of a tokenizer; a reader of a format fills them in.
struct TokenizerParts {
  BytePairs model;
  std::vector<AddedToken> added;
  std::vector<Normalizer> normalizers;
  std::vector<PreTokenizer> pre_tokenizers;
  std::vector<TokenId> prefix, suffix;  ///< tokens before and after each text
  Decoding decoding;
  bool added_are_literal = false;  ///< added tokens that are not special are decoded as they are written
  SpecialTokens special;
};

/// Text to tokens and back. Immutable: threads share it; copies share their memory.
class Tokenizer {
 public:
  /// `place` names the file in errors. Errors: bad_file (an added token with the id of another, a special id without a token),
  /// limit_exceeded.
  static Result<Tokenizer> make(TokenizerParts parts, std::string_view place);

  /// The tokens of a text; what is no UTF-8 in it counts as U+FFFD. Cost: n log n of the longest word.
  /// Errors: limit_exceeded (2 GB and more; a regular expression that takes too long).
  Result<std::vector<TokenId>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// The text of tokens, which is UTF-8; ids without a token add nothing. A TextStream gives the same text token by token.
  std::string decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

  /// One more than the highest id.
  int64_t vocabulary_size() const;
  /// The token's text in the vocabulary; "" where there is no such token.
  std::string_view token_text(TokenId id) const;
  /// The token with just this text in the vocabulary. Cost: constant.
  std::optional<TokenId> find_token(std::string_view text) const;
  const SpecialTokens& special() const;
  bool is_special(TokenId id) const;
  bool ends_generation(TokenId id) const;

  /// Errors: bad_input where a model of so many rows of embeddings lacks some of the tokens. More rows than tokens are usual.
  Result<void> check_vocabulary(int64_t rows, std::string_view place) const;

 private:
  friend class TextStream;
  struct Tables;
  explicit Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}
  std::shared_ptr<const Tables> tables_;
};

/// Decodes tokens one by one: each call returns the characters that are complete so far.
class TextStream {
 public:
  explicit TextStream(Tokenizer tokenizer, const DecodeOptions& options = {});
  std::string push(TokenId id);
  /// What was held back, at the end.
  std::string finish();

 private:
  std::string without_prefix(std::string bytes);
  Tokenizer tokenizer_;
  DecodeOptions options_;
  Utf8Stream stream_;
  uint32_t stripped_ = 0;
  bool first_ = true, at_beginning_ = true;
};

}  // namespace tenon::llm
