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

/// Tokens that run behind others, which are in the cache already.
struct DecoderWork {
  int64_t past = 0;      ///< tokens in the cache
  int64_t tokens = 0;    ///< that run
  bool decodes = false;  ///< a run a token, as in an answer; else runs of kPromptChunk at most, as of a prompt
};

/// Tokens of a prompt that run at once, at most, as in a session (llm::GenerationOptions::chunk).
inline constexpr int64_t kPromptChunk = 512;

/// What a work computes and reads at least.
struct WorkAmounts {
  ByProducts flops{};  ///< by kind of product
  double bytes = 0;    ///< weights and rows of the cache that its runs read, each once a run
};

/// Runs of a decoder on random tokens, the same in each: a work has those at its places of one sequence.
class DecoderRuns {
 public:
  /// most: tokens of the longest sequence. Errors: those of llm::decoder_interface and Context::create; bad_usage where the cache has no
  /// room for them; not_supported for a decoder without a cache.
  static Result<DecoderRuns> create(std::shared_ptr<const runtime::Engine> engine, const std::string& place, int64_t most,
                                    const runtime::RunOptions& options, uint64_t seed);

  /// Milliseconds of the work; what is in its past, or is taken back from there, is not measured. Errors: those of Context::run.
  Result<double> timed(const DecoderWork& work);
  /// The work's amounts: it runs once. Errors: those of Context::run.
  Result<WorkAmounts> amounts(const DecoderWork& work);
  /// f32[tokens, vocabulary]: the logits of each token of a work that decodes. Errors: those of Context::run.
  Result<Tensor> logits(const DecoderWork& work);
  std::span<const int64_t> tokens() const { return tokens_; }
  /// In place of the random ones, as many. All are in the vocabulary.
  void set_tokens(std::vector<int64_t> tokens);

 private:
  DecoderRuns(std::shared_ptr<const runtime::Engine> engine, const llm::DecoderInterface& interface,
              std::unique_ptr<runtime::Context> context, const runtime::RunOptions& options)
      : engine_(std::move(engine)),
        interface_(interface),
        at_once_(std::min(kPromptChunk, interface.most_tokens)),
        context_(std::move(context)),
        options_(options) {}
  /// Tokens of a work's next run.
  int64_t next_count(const DecoderWork& work, int64_t done) const;
  /// Leaves the first `length` tokens in the cache.
  Result<void> keep(int64_t length);
  /// Runs the next `count` tokens at once. f32[vocabulary] of the last one, valid until the next run.
  Result<std::span<const float>> run(int64_t count);
  Result<void> run_all(const DecoderWork& work);
  double cached_row_bytes() const;

  std::shared_ptr<const runtime::Engine> engine_;
  llm::DecoderInterface interface_;
  int64_t at_once_;  ///< tokens of a prompt's run
  std::unique_ptr<runtime::Context> context_;
  runtime::RunOptions options_;
  std::vector<int64_t> tokens_;
  std::vector<int32_t> narrow_;
  int64_t length_ = 0;
};

/// The work and its tokens as tools/bench/llama_peer.py reads them: past i64[past], tokens i64[tokens], decodes, wants_logits (of each run)
/// and context (tokens that the cache has room for) i64[1].
files::NamedTensors peer_work(std::span<const int64_t> tokens, const DecoderWork& work, bool wants_logits);

}  // namespace tenon::cli
