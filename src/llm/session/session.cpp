// SPDX-License-Identifier: Apache-2.0
#include "llm/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "llm/session/engine_decoder.h"

namespace tenon::llm {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How many of the first tokens are equal.
size_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

Result<void> check_options(const GenerationOptions& options) {
  TRY(check(options.sampling));
  if (options.max_tokens < 0)
    return fail(Code::bad_usage, "max_tokens", "an answer has no such length")
        .expected("0 or more")
        .found(std::to_string(options.max_tokens));
  if (options.chunk < 0)
    return fail(Code::bad_usage, "chunk", "a prompt is read in pieces").expected("0 or more tokens").found(std::to_string(options.chunk));
  return {};
}

}  // namespace

Result<Session> Session::create(std::shared_ptr<const Model> model) {
  auto decoder = TRY(EngineDecoder::create(model->engine, model->place));
  return Session(model->tokenizer, std::move(decoder), model->limits);
}

Session::Session(Tokenizer tokenizer, std::unique_ptr<Decoder> decoder, const SessionLimits& limits)
    : tokenizer_(std::move(tokenizer)),
      decoder_(std::move(decoder)),
      limits_(limits),
      sampler_(static_cast<size_t>(decoder_->vocabulary())),
      history_(static_cast<size_t>(decoder_->vocabulary())),
      stream_(tokenizer_) {}

Result<void> Session::check_prompt(std::span<const TokenId> prompt) const {
  const auto count = static_cast<int64_t>(prompt.size()), most = decoder_->capacity() - 1;
  if (count == 0)
    return fail(Code::bad_input, "prompt", "the prompt is empty")
        .expected("one token or more")
        .found("none")
        .advice("give a text; this model's tokenizer puts no token of its own before it");
  if (count > most)
    return fail(Code::bad_input, "prompt", "the prompt is longer than the context")
        .expected(fmt::format("at most {} tokens, which leave room for one of the answer", most))
        .found(fmt::format("{} tokens, {} too many", count, count - most))
        .advice("shorten it, or build the engine with a larger --context");
  if (limits_.max_input > 0 && count > limits_.max_input)
    return fail(Code::bad_input, "prompt", "the prompt is longer than the engine was built for")
        .expected(fmt::format("at most {} tokens, max_input_len of its BuildConfig", limits_.max_input))
        .found(fmt::format("{} tokens, {} too many", count, count - limits_.max_input))
        .advice("shorten it, or build the engine with a larger max_input_len");
  for (const TokenId token : prompt)
    if (token < 0 || token >= decoder_->vocabulary())
      return fail(Code::bad_input, "prompt", "the model has no such token")
          .expected(fmt::format("0 .. {}", decoder_->vocabulary() - 1))
          .found(std::to_string(token));
  return {};
}

Result<void> Session::begin(std::span<const TokenId> prompt, const GenerationOptions& options) {
  const auto start = Clock::now();
  reason_ = StopReason::cancelled;  // of the one under way, and where this one fails
  TRY(check_options(options));
  TRY(check_prompt(prompt));
  stops_ = TRY(StopStrings::make(options.stop));
  options_ = options;
  const size_t cached = static_cast<size_t>(decoder_->length());
  const size_t common = std::min(common_prefix(std::span(tokens_).first(cached), prompt), prompt.size() - 1);
  statistics_ = {.prompt_tokens = static_cast<int64_t>(prompt.size())};
  statistics_.reused_tokens = decoder_->shorten(static_cast<int64_t>(common));
  tokens_.assign(prompt.begin(), prompt.end());
  history_.clear();
  history_.add_prompt(prompt);
  stream_ = TextStream(tokenizer_, {.continues = options.continues});
  if (auto ran = run_pending(); !ran) {
    if (ran.error().code() == Code::cancelled) return {};
    return ran;
  }
  statistics_.prompt_seconds = seconds_since(start);
  reason_ = StopReason::none;
  return {};
}

Result<void> Session::run_pending() {
  std::span<const TokenId> pending = std::span(tokens_).subspan(static_cast<size_t>(decoder_->length()));
  const auto most = static_cast<size_t>(std::min(options_.chunk > 0 ? options_.chunk : limits_.chunk, decoder_->most_tokens()));
  while (!pending.empty()) {
    const auto chunk = pending.first(std::min(pending.size(), most));
    logits_ = TRY(decoder_->run(chunk, options_.run));
    pending = pending.subspan(chunk.size());
  }
  return {};
}

bool Session::is_cancelled() const { return options_.run.token && options_.run.token->stop.load(std::memory_order_relaxed); }

bool Session::ends(TokenId token) const {
  if (std::ranges::find(options_.stop_tokens, token) != options_.stop_tokens.end()) return true;
  return !options_.ignore_end && tokenizer_.ends_generation(token);
}

bool Session::end(StopReason reason, std::string& text) {
  stops_->add(stream_.finish(), text);
  stops_->finish(text);
  reason_ = reason;
  return false;
}

Result<bool> Session::next(std::string& text) {
  if (reason_ != StopReason::none) return false;
  const auto start = Clock::now();
  auto done = step(text);
  if (!done) reason_ = StopReason::cancelled;
  if (!done && done.error().code() == Code::cancelled) done = end(StopReason::cancelled, text);
  statistics_.answer_seconds += seconds_since(start);
  return done;
}

Result<bool> Session::step(std::string& text) {
  if (is_cancelled()) return end(StopReason::cancelled, text);
  if (decoder_->length() < static_cast<int64_t>(tokens_.size())) {
    TRY(run_pending());
    ++statistics_.answer_runs;
  }
  const auto sampled = sampler_.sample(logits_, history_, options_.sampling, options_.sequence, tokens_.size());
  if (!sampled) return located(sampled.error());
  const TokenId token = *sampled;
  tokens_.push_back(token);
  history_.add(token);
  const int64_t count = ++statistics_.generated_tokens;
  if (ends(token)) return end(StopReason::end_token, text);
  stops_->add(stream_.push(token), text);
  if (stops_->has_stopped()) return end(StopReason::stop_string, text);
  if (count == options_.max_tokens) return end(StopReason::max_tokens, text);
  if (static_cast<int64_t>(tokens_.size()) >= decoder_->capacity()) return end(StopReason::context_full, text);
  return true;
}

Error Session::located(const Error& error) const {
  const std::string first = decoder_->first_not_finite();
  const std::string where = first.empty() ? "all that the cache keeps is finite: look behind the last layer's keys and values"
                                          : fmt::format("the first in the cache is in {}: look there and in the layer before", first);
  return fail(error.code(), error->place, error->what)
      .expected(error->expected)
      .found(fmt::format("{}; {}", error->found, where))
      .advice("check the checkpoint's weights, and what its --weights or adapters changed");
}

Result<std::string> Session::generate(std::span<const TokenId> prompt, const GenerationOptions& options,
                                      const std::function<bool(std::string_view)>& on_text) {
  TRY(begin(prompt, options));
  std::string whole, piece;
  for (bool more = true; more;) {
    piece.clear();
    more = TRY(next(piece));
    whole += piece;
    if (!piece.empty() && on_text && !on_text(piece) && more) {
      reason_ = StopReason::cancelled;
      break;
    }
  }
  return whole;
}

void Session::reset() {
  decoder_->shorten(0);
  tokens_.clear();
  statistics_ = {};
  reason_ = StopReason::cancelled;
}

}  // namespace tenon::llm
