// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/sample/sampler.h"
#include "llm/sample/stop_strings.h"
#include "llm/session/decoder.h"
#include "llm/session/generation.h"
#include "llm/session/model.h"

namespace tenon::llm {

/// Answers prompts, one after the other, over one cache. The common prefix of a prompt and the tokens in the cache is not computed
/// again; logits have the same bits as those of a run from an empty cache. One thread at a time; other threads may set the stop token.
class Session {
 public:
  /// Errors: those of EngineDecoder::create.
  static Result<Session> create(std::shared_ptr<const Model> model);
  Session(Tokenizer tokenizer, std::unique_ptr<Decoder> decoder, const SessionLimits& limits = {});

  /// Reads the prompt; next() gives the answer. Ends an answer that is not complete. Where options.run.token cancels the runs of the
  /// prompt, the answer is cancelled. Errors: bad_input (an empty prompt; one that leaves no room for an answer or is longer than
  /// SessionLimits::max_input, by how much); bad_usage (options); those of the runs.
  Result<void> begin(std::span<const TokenId> prompt, const GenerationOptions& options);
  /// Computes one more token, and appends the part of the answer's text that is complete: whole characters, possibly none. False: the
  /// answer has ended. Errors: those of the runs and of Sampler::sample; they end the answer.
  Result<bool> next(std::string& text);
  /// Generates a whole answer. on_text is called with each piece of text; where it returns false, the answer ends.
  Result<std::string> generate(std::span<const TokenId> prompt, const GenerationOptions& options,
                               const std::function<bool(std::string_view)>& on_text = {});

  /// Why the last answer ended; none while it is under way.
  StopReason reason() const { return reason_; }
  const GenerationStatistics& statistics() const { return statistics_; }
  /// Tokens of the last answer, the one that ended it among them.
  std::span<const TokenId> answer() const { return std::span(tokens_).subspan(static_cast<size_t>(statistics_.prompt_tokens)); }
  int64_t capacity() const { return decoder_->capacity(); }
  /// Removes all tokens from the cache.
  void reset();

 private:
  Result<void> check_prompt(std::span<const TokenId> prompt) const;
  /// Runs those of tokens_ that are not in the cache, in chunks. Errors: those of the runs.
  Result<void> run_pending();
  /// next() without measuring the time.
  Result<bool> step(std::string& text);
  /// An error of Sampler::sample, with the first state that has numbers that are not finite.
  Error located(const Error& error) const;
  bool is_cancelled() const;
  bool ends(TokenId token) const;
  /// Ends the answer: appends what was held back, and returns false.
  bool end(StopReason reason, std::string& text);

  Tokenizer tokenizer_;
  std::unique_ptr<Decoder> decoder_;
  SessionLimits limits_;
  Sampler sampler_;
  TokenHistory history_;
  GenerationOptions options_;
  std::vector<TokenId> tokens_;    ///< prompt and answer; the first decoder_->length() of them are in the cache
  std::span<const float> logits_;  ///< of the last token
  TextStream stream_;
  std::optional<StopStrings> stops_;
  GenerationStatistics statistics_;
  StopReason reason_ = StopReason::cancelled;
};

}  // namespace tenon::llm
