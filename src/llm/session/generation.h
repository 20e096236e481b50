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

struct GenerationOptions {
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;                 ///< of the answer; 0: until it ends, or the context is full
  std::vector<std::string> stop = {};     ///< strings that end the answer, without being part of it
  std::vector<TokenId> stop_tokens = {};  ///< besides those of the tokenizer
  bool ignore_end = false;                ///< tokens that end an answer do not: for measuring
  bool continues = false;                 ///< the text follows the prompt's: the space that a beginning loses stays
  int64_t chunk = 0;                      ///< tokens of a prompt that run at once; 0: those of SessionLimits
  uint32_t sequence = 0;                  ///< names the random numbers, besides the seed and the token's place
  /// `token` ends the answer: between tokens, and within the runs of the prompt.
  runtime::RunOptions run = {};
};

/// What the build of an engine says of its sessions (BuildConfig of TensorRT-LLM).
struct SessionLimits {
  int64_t max_input = 0;  ///< tokens of a prompt; 0: as many as the context has
  int64_t chunk = 512;    ///< tokens of a prompt that run at once, if a run may have so many
};

/// What ended an answer.
enum class StopReason : uint8_t { none, end_token, stop_string, max_tokens, context_full, cancelled };
/// "end", "stop_string", ...
std::string_view name_of(StopReason reason);

struct GenerationStatistics {
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;     ///< of the prompt: those that were in the cache
  int64_t generated_tokens = 0;  ///< the one that ended the answer counts
  double prompt_seconds = 0;     ///< up to the logits of the first token
  double answer_seconds = 0;     ///< the rest
  int64_t answer_runs = 0;       ///< of the model after the prompt's: what answer_seconds was taken for
};

}  // namespace tenon::llm
