// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/bench/measure.h"
#include "files/npz.h"
#include "llm/session/engine_decoder.h"

namespace tenon::cli {

/// A unit of measurement of a decoder: new tokens that run after tokens in the cache.
struct DecoderWork {
  int64_t past = 0;      ///< tokens of each sequence in the cache
  int64_t tokens = 0;    ///< new tokens of each sequence
  bool decodes = false;  ///< one run for each token, as in an answer; false: runs of at most kPromptChunk tokens, as for a prompt
  int64_t batch = 1;     ///< sequences that run at once
};

/// The most tokens of a prompt in one run, all sequences together, as in a session (llm::GenerationOptions::chunk).
inline constexpr int64_t kPromptChunk = 512;

/// The least amounts of operations and bytes of a work.
struct WorkAmounts {
  ByProductKind flops{};  ///< by kind of product
  double bytes = 0;       ///< weights and rows of the cache that its runs read, each once a run
};

/// Runs a decoder on random tokens, which are equal in all works: a work takes those of its positions from the first sequences.
class DecoderRuns {
 public:
  /// most: the most sequences (batch) and tokens of one that works have. Errors: those of llm::decoder_interface and Context::create;
  /// bad_usage where the cache has no room for them; not_supported for a decoder without a cache.
  static Result<DecoderRuns> create(std::shared_ptr<const runtime::Engine> engine, const std::string& place, const DecoderWork& most,
                                    const runtime::RunOptions& options, uint64_t seed);

  /// Milliseconds of the work, without filling the cache with its past or shortening it. Errors: those of Context::run.
  Result<double> timed(const DecoderWork& work);
  /// The work's amounts: it runs once. Errors: those of Context::run.
  Result<WorkAmounts> amounts(const DecoderWork& work);
  /// f32[tokens, vocabulary]: the logits of each token of a work that decodes one sequence. Errors: those of Context::run.
  Result<Tensor> logits(const DecoderWork& work);
  /// Of each sequence, in one run.
  int64_t most_tokens() const { return interface_.most_tokens; }
  /// i64[sequences, tokens], without a copy.
  const Tensor& tokens() const { return tokens_; }
  /// Replaces the random tokens by others of the same shape, which must be in the vocabulary.
  void set_tokens(std::span<const int64_t> tokens);

 private:
  DecoderRuns(std::shared_ptr<const runtime::Engine> engine, const llm::DecoderInterface& interface,
              std::unique_ptr<runtime::Context> context, const runtime::RunOptions& options)
      : engine_(std::move(engine)), interface_(interface), context_(std::move(context)), options_(options) {}
  /// Tokens of each sequence in a prompt's run.
  int64_t at_once() const { return std::clamp(kPromptChunk / batch_, int64_t{1}, interface_.most_tokens); }
  /// Tokens of each sequence in a work's next run.
  int64_t next_count(const DecoderWork& work, int64_t done) const;
  /// Fills or shortens the cache to the tokens of the work's past.
  Result<void> keep(const DecoderWork& work);
  /// The next `count` tokens of each sequence as the engine's input: a view of next_.
  Tensor next_input(int64_t count);
  /// Runs the next `count` tokens of each sequence at once. f32[vocabulary] of the last one, valid until the next run.
  Result<std::span<const float>> run(int64_t count);
  Result<void> run_all(const DecoderWork& work);
  /// Bytes of one token of each sequence in the cache.
  double cached_row_bytes() const;

  std::shared_ptr<const runtime::Engine> engine_;
  llm::DecoderInterface interface_;
  std::unique_ptr<runtime::Context> context_;
  runtime::RunOptions options_;
  Tensor tokens_;
  std::vector<int64_t> next_;
  std::vector<int32_t> narrow_;
  int64_t batch_ = 1, length_ = 0;  ///< of the cache
};

/// The work and its tokens as tools/bench/llama_peer.py reads them: past i64[batch, past], tokens i64[batch, tokens], decodes, wants_logits
/// (of each run) and context (tokens of a sequence that the cache has room for) i64[1]. tokens: of DecoderRuns::tokens.
files::NamedTensors peer_work(const Tensor& tokens, const DecoderWork& work, bool wants_logits);

}  // namespace tenon::cli
