// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "llm/text/vocabulary.h"
#include "runtime/run_options.h"

namespace tenon::llm {

/// A decoder over one sequence: it appends the tokens that it is given to its cache.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Logits of a run: rows of the output's table, which may be more than the tokenizer has tokens.
  virtual int64_t vocabulary() const = 0;
  /// Tokens for which the cache has room; INT64_MAX where the sequence has no end.
  virtual int64_t capacity() const = 0;
  /// Tokens of one run, at most.
  virtual int64_t most_tokens() const { return capacity(); }
  /// Tokens in the cache.
  virtual int64_t length() const = 0;

  /// f32[vocabulary] of the last token; valid until the next call. Where it fails the cache is as it was, or empty where a
  /// state cannot be cut.
  /// Errors: those of Context::run; bad_input for more tokens than there is room for.
  virtual Result<std::span<const float>> run(std::span<const TokenId> tokens, const runtime::RunOptions& options) = 0;
  /// Takes tokens back, so that at most `length` are left. Returns how many are: `length`, or 0 where a state cannot be cut (recurrent
  /// ones, rings that have overwritten what the next token reads).
  virtual int64_t shorten(int64_t length) = 0;
  /// Where the cache has the first number that is not finite: "state 'keys.3', of layer 3"; "" where it has none.
  virtual std::string first_not_finite() const { return {}; }
};

}  // namespace tenon::llm
