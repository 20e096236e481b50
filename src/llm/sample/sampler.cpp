// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"

namespace tenon::llm {
namespace {

bool by_token(const Candidate& a, const Candidate& b) { return a.token < b.token; }
/// A logit after an option was applied, clamped to finite f64, so that differences of two logits are never NaN; minus infinity (a token
/// that cannot follow) stays.
double bounded(double before, double after) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  return before == -INFINITY ? before : std::clamp(after, -kLargest, kLargest);
}

/// Likelier first; of equals the one with the larger number, as in transformers' order from the smallest logit up.
bool by_logit(const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.token > b.token; }

}  // namespace

Result<void> Sampler::read(std::span<const float> logits) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    if (std::isnan(logit) || logit == INFINITY)
      return fail(Code::bad_input, "logits", "a logit is not finite")
          .expected("a number")
          .found("token " + std::to_string(i) + ": " + std::to_string(logit));
    candidates_.push_back({static_cast<int32_t>(i), logit, 0});
  }
  return {};
}

void Sampler::penalize(const TokenHistory& history, const SamplingOptions& o) {
  const bool is_free = o.repetition_penalty == 1 && o.presence_penalty == 0 && o.frequency_penalty == 0;
  if (is_free) return;
  for (const int32_t token : history.tokens()) {
    if (static_cast<size_t>(token) >= candidates_.size()) continue;
    double& logit = candidates_[static_cast<size_t>(token)].logit;
    logit = bounded(logit, logit < 0 ? logit * o.repetition_penalty : logit / o.repetition_penalty);
    if (const uint32_t count = history.answer_count(token); count > 0)
      logit = bounded(logit, logit - bounded(0, o.presence_penalty + bounded(0, o.frequency_penalty * count)));
  }
}

void Sampler::normalize() {
  double largest = -INFINITY, sum = 0;
  for (const Candidate& c : candidates_) largest = std::max(largest, c.logit);
  for (Candidate& c : candidates_) sum += c.probability = std::exp(c.logit - largest);
  for (Candidate& c : candidates_) c.probability /= sum;
}

void Sampler::keep_top_k(size_t k) {
  if (k >= candidates_.size()) return;
  const auto kth = candidates_.begin() + static_cast<ptrdiff_t>(k - 1);
  std::nth_element(candidates_.begin(), kth, candidates_.end(), by_logit);
  const double least = kth->logit;
  std::erase_if(candidates_, [&](const Candidate& c) { return c.logit < least; });
}

void Sampler::keep_top_p(double p) {
  normalize();
  double sum = 0;
  size_t sorted = 0, kept = 0;
  for (size_t step = 64; kept == sorted && sorted < candidates_.size(); step *= 4) {
    const size_t end = std::min(sorted + step, candidates_.size());
    const auto begin = candidates_.begin();
    if (end < candidates_.size())
      std::nth_element(begin + static_cast<ptrdiff_t>(sorted), begin + static_cast<ptrdiff_t>(end), candidates_.end(), by_logit);
    std::sort(begin + static_cast<ptrdiff_t>(sorted), begin + static_cast<ptrdiff_t>(end), by_logit);
    for (sorted = end; kept < sorted && (kept == 0 || sum < p); ++kept) sum += candidates_[kept].probability;
  }
  candidates_.resize(kept);
}

void Sampler::keep_min_p(double p) {
  double largest = -INFINITY;
  for (const Candidate& c : candidates_) largest = std::max(largest, c.logit);
  const double least = std::log(p);
  std::erase_if(candidates_, [&](const Candidate& c) { return c.logit - largest < least; });
}

Result<std::span<const Candidate>> Sampler::candidates(std::span<const float> logits, const TokenHistory& history,
                                                       const SamplingOptions& o) {
  TRY(read(logits));
  penalize(history, o);
  if (o.temperature == 0) {
    const auto best =
        std::min_element(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; });
    if (best != candidates_.end()) candidates_ = {*best};
  } else if (o.temperature != 1) {
    for (Candidate& c : candidates_) c.logit = bounded(c.logit, c.logit / o.temperature);
  }
  std::erase_if(candidates_, [](const Candidate& c) { return c.logit == -INFINITY; });
  if (candidates_.empty())
    return fail(Code::bad_input, "logits", "no token may follow").expected("a logit above minus infinity").found("none");
  if (o.temperature != 0 && o.top_k > 0) keep_top_k(static_cast<size_t>(o.top_k));
  if (o.temperature != 0 && o.top_p < 1) keep_top_p(o.top_p);
  if (o.temperature != 0 && o.min_p > 0) keep_min_p(o.min_p);
  std::sort(candidates_.begin(), candidates_.end(), by_token);
  normalize();
  return std::span<const Candidate>(candidates_);
}

Result<int32_t> Sampler::sample(std::span<const float> logits, const TokenHistory& history, const SamplingOptions& options,
                                uint32_t sequence, uint64_t position) {
  const auto all = TRY(candidates(logits, history, options));
  if (all.size() == 1) return all[0].token;
  const double target = uniform_of(RandomScope{.seed = options.seed, .path = 0, .step = position}.block(sequence, 0));
  double sum = 0;
  for (const Candidate& c : all)
    if ((sum += c.probability) > target) return c.token;
  return all.back().token;
}

}  // namespace tenon::llm
