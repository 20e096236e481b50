// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "llm/text/vocabulary.h"
#include "runtime/run_options.h"

namespace tenon::llm {

/// A decoder of one sequence: each run appends tokens to its cache.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// The number of logits of a run: rows of the output's weight, which may be more than the tokenizer has tokens.
  virtual int64_t vocabulary() const = 0;
  /// Tokens for which the cache has room; INT64_MAX where the sequence has no end.
  virtual int64_t capacity() const = 0;
  /// The most tokens that one run takes.
  virtual int64_t most_tokens() const { return capacity(); }
  /// Tokens in the cache.
  virtual int64_t length() const = 0;

  /// Runs the tokens. Returns the logits f32[vocabulary] of the last one; valid until the next call. After an error the cache is unchanged,
  /// or empty where a state cannot be shortened. Errors: those of Context::run; bad_input for more tokens than there is room for.
  virtual Result<std::span<const float>> run(std::span<const TokenId> tokens, const runtime::RunOptions& options) = 0;
  /// Removes the last tokens from the cache, so that at most `length` are left. Returns the new length: `length`, or 0 where a state cannot
  /// be shortened (recurrent states, rings that have overwritten rows that the next token reads).
  virtual int64_t shorten(int64_t length) = 0;
  /// The first state of the cache with a number that is not finite: "state 'keys.3', of layer 3"; "" where it has none.
  virtual std::string first_not_finite() const { return {}; }
};

}  // namespace tenon::llm
