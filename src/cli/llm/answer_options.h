// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llm/session/generation.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// The options of an answer: how its tokens are chosen, and what ends it. The default values are llama.cpp's.
struct AnswerOptions {
  llm::SamplingOptions sampling{.temperature = 0.8, .top_k = 40, .top_p = 0.95, .min_p = 0.05};
  std::optional<uint64_t> seed;
  int64_t max_tokens = 0;
  std::vector<std::string> stop;
  bool ignore_end = false;
  bool verbose = false;

  void add_to(CLI::App& app);
  /// The options of llm::Session. Without --seed the seed is random. Errors: those of llm::check.
  Result<llm::GenerationOptions> options(int threads) const;
};

}  // namespace tenon::cli
