// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "llm/sample/sampling_options.h"
#include "llm/sample/token_history.h"

namespace tenon::llm {

/// A token that may be chosen.
struct Candidate {
  int32_t token = 0;
  double logit = 0;        ///< after penalties and temperature
  double probability = 0;  ///< of this token among all candidates
};

/// Chooses tokens. Holds scratch of 24 bytes for each token of the vocabulary; no allocation after construction. One thread at a time.
class Sampler {
 public:
  explicit Sampler(size_t vocabulary) { candidates_.reserve(vocabulary); }

  /// The tokens that may follow, in the order of their numbers; valid until the next call. Greedy: one token.
  /// logits: f32[vocabulary]. Options have passed check(). Errors: bad_input (NaN, or no logit above minus infinity).
  /// Cost: linear in the vocabulary; top-p sorts only as many tokens as it keeps.
  Result<std::span<const Candidate>> candidates(std::span<const float> logits, const TokenHistory& history, const SamplingOptions& options);

  /// The next token. sequence and position select the random number (base/random.h), so that a token does not depend on the batch, nor on
  /// other sequences in it. Errors as above.
  Result<int32_t> sample(std::span<const float> logits, const TokenHistory& history, const SamplingOptions& options, uint32_t sequence,
                         uint64_t position);

 private:
  Result<void> read(std::span<const float> logits);
  void penalize(const TokenHistory& history, const SamplingOptions& options);
  void keep_top_k(size_t k);
  void keep_top_p(double p);
  void keep_min_p(double p);
  /// Probabilities of the candidates.
  void normalize();

  std::vector<Candidate> candidates_;
};

}  // namespace tenon::llm
