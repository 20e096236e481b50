// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "cli/bench/session.h"
#include "cli/llm/decoder_runs.h"

namespace tenon::cli {

/// The options of `tenon bench` for language models.
struct DecoderBenchOptions {
  std::vector<int64_t> prefill;  ///< lengths of prompts to measure
  int64_t decode = 0;            ///< tokens of an answer to measure; 0: none
  int64_t past = 0;              ///< tokens in the cache before each work
  std::vector<int64_t> batch;    ///< batch sizes to measure; empty: 1

  void add_to(CLI::App& app);
  /// Whether a model is measured as a decoder.
  bool any() const { return !prefill.empty() || decode > 0; }
  /// The works to measure: for each batch size the prompts, then the answer.
  std::vector<DecoderWork> works() const;
};

/// Errors: bad_usage (--past, --batch or llama.cpp without a work; another engine than llama.cpp with one; llama.cpp where MODEL is no GGUF
/// file).
Result<void> check_decoder_options(const BenchOptions& options, const DecoderBenchOptions& decoder);

/// Measures each work, with --vs by turns with llama.cpp, and prints the table. Errors: also those of loading and running.
Result<void> bench_decoder(const BenchOptions& options, const DecoderBenchOptions& decoder, Console& console);

}  // namespace tenon::cli
