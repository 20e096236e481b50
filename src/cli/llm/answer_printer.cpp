// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/answer_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/bench/memory_stream.h"
#include "cli/console/console.h"
#include "llm/session/token_bytes.h"

namespace tenon::cli {
namespace {

constexpr int kPasses = 8;  ///< over memory; the fastest counts

double measured_bandwidth(int threads) {
  const MemoryStream stream(threads > 0 ? threads : std::numeric_limits<int>::max());
  double best = 0;
  for (int k = 0; k < kPasses; ++k) best = std::max(best, stream.read());
  return best;
}

double rate(int64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

/// A text for what ended the answer, where that was not the model itself.
std::string_view ending(llm::StopReason reason) {
  switch (reason) {
    case llm::StopReason::max_tokens: return "; ended by --max-tokens";
    case llm::StopReason::context_full: return "; ended because the context is full";
    case llm::StopReason::cancelled: return "; stopped";
    default: return "";
  }
}

}  // namespace

Result<std::string> AnswerPrinter::answer(std::span<const llm::TokenId> prompt) {
  bool on_new_line = true;
  auto text = session_.generate(prompt, options_, [&](std::string_view piece) {
    console_.piece(piece);
    on_new_line = piece.ends_with('\n');
    return true;
  });
  if (!on_new_line) console_.piece("\n");
  if (text) show_speed();
  return text;
}

void AnswerPrinter::show_speed() {
  if (console_.json || console_.quiet) return;
  const llm::GenerationStatistics& s = session_.statistics();
  const int64_t read = s.prompt_tokens - s.reused_tokens;
  std::string line = fmt::format("[prompt: {} tokens at {:.0f} tokens/s", read, rate(read, s.prompt_seconds));
  if (s.reused_tokens > 0) line += fmt::format(", {} kept from before", s.reused_tokens);
  line += fmt::format("; answer: {} tokens", s.generated_tokens);
  if (s.answer_runs > 0) {
    if (!bandwidth_) bandwidth_ = measured_bandwidth(options_.run.threads);
    const double gbps = rate(s.answer_runs, s.answer_seconds) * static_cast<double>(llm::token_bytes(*model_->engine)) / 1e9;
    line += fmt::format(" at {:.1f} tokens/s, {:.0f} % of the read bandwidth of {:.1f} GB/s", rate(s.answer_runs, s.answer_seconds),
                        100 * gbps / *bandwidth_, *bandwidth_);
  }
  console_.note(line + std::string(ending(session_.reason())) + "]");
  if (verbose_) show_details();
}

void AnswerPrinter::show_details() {
  const llm::GenerationStatistics& s = session_.statistics();
  const std::string most = session_.capacity() == INT64_MAX ? "" : fmt::format(" of {}", session_.capacity());
  console_.note(fmt::format("[seed {}; prompt {:.3f} s, answer {:.3f} s, a token reads {:.1f} MB of weights; context: {}{} tokens]",
                            options_.sampling.seed, s.prompt_seconds, s.answer_seconds,
                            static_cast<double>(llm::token_bytes(*model_->engine)) / 1e6, s.prompt_tokens + s.generated_tokens, most));
}

nlohmann::ordered_json AnswerPrinter::data(const std::string& text) const {
  const llm::GenerationStatistics& s = session_.statistics();
  return {{"text", text},
          {"ended_by", name_of(session_.reason())},
          {"tokens", std::vector<llm::TokenId>(session_.answer().begin(), session_.answer().end())},
          {"seed", options_.sampling.seed},
          {"prompt_tokens", s.prompt_tokens},
          {"reused_tokens", s.reused_tokens},
          {"generated_tokens", s.generated_tokens},
          {"prompt_seconds", s.prompt_seconds},
          {"answer_seconds", s.answer_seconds},
          {"answer_tokens_per_second", rate(s.answer_runs, s.answer_seconds)},
          {"weight_bytes", model_->engine->programs().weight_bytes},
          {"token_bytes", llm::token_bytes(*model_->engine)}};
}

}  // namespace tenon::cli
