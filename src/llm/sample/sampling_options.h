// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/result.h"

namespace tenon::llm {

/// How the next token is chosen. The steps are those of transformers, in its order: penalties, temperature, top-k, top-p, min-p; what is
/// left is drawn from. With its default value a member's step has no effect.
struct SamplingOptions {
  /// Applied to logits of tokens in the prompt or the answer: positive ones divided by it, negative ones multiplied. Source: Keskar and
  /// others, "CTRL", 2019.
  double repetition_penalty = 1;
  double presence_penalty = 0;   ///< subtracted from logits of tokens in the answer
  double frequency_penalty = 0;  ///< likewise, times the number of their occurrences in the answer
  double temperature = 1;        ///< divides logits; 0: greedy, the token with the largest logit (of equals the first)
  int64_t top_k = 0;             ///< keeps the k largest logits, and those equal to the smallest of them; 0: all
  double top_p = 1;              ///< keeps the likeliest tokens until their probabilities add up to it
  double min_p = 0;              ///< keeps tokens at least this fraction as likely as the likeliest one
  uint64_t seed = 0;             ///< of the random numbers
};

/// Errors: bad_usage, naming the option, its range and what was found.
Result<void> check(const SamplingOptions& options);

}  // namespace tenon::llm
