// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llm/sample/sampling_options.h"
#include "llm/text/vocabulary.h"
#include "runtime/run_options.h"

namespace tenon::llm {

/// How an answer is generated.
struct GenerationOptions {
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;                 ///< most tokens of the answer; 0: as many as the context has room for
  std::vector<std::string> stop = {};     ///< strings that end the answer, without being part of it
  std::vector<TokenId> stop_tokens = {};  ///< besides those of the tokenizer
  bool ignore_end = false;                ///< end tokens do not end the answer (for benchmarks)
  bool continues = false;                 ///< the answer's text continues the prompt's: its leading space is kept
  int64_t chunk = 0;                      ///< tokens of a prompt that run at once; 0: those of SessionLimits
  uint32_t sequence = 0;                  ///< selects the random numbers, with the seed and the token's position
  /// Options of the runs. run.token cancels the answer, also within the runs of the prompt.
  runtime::RunOptions run = {};
};

/// Limits of sessions that the build of an engine has set (BuildConfig of TensorRT-LLM).
struct SessionLimits {
  int64_t max_input = 0;  ///< tokens of a prompt; 0: as many as the context has
  int64_t chunk = 512;    ///< tokens of a prompt that run at once, if a run may have so many
};

/// What ended an answer.
enum class StopReason : uint8_t { none, end_token, stop_string, max_tokens, context_full, cancelled };
/// "end", "stop_string", ...
std::string_view name_of(StopReason reason);

/// Counts and times of one answer.
struct GenerationStatistics {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;     ///< of the prompt: those that were in the cache
  int64_t generated_tokens = 0;  ///< of the answer, including the one that ended it
  double prompt_seconds = 0;     ///< time until the logits of the first token
  double answer_seconds = 0;     ///< time after that
  int64_t answer_runs = 0;       ///< runs of the model within answer_seconds
};

}  // namespace tenon::llm
