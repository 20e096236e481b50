// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "llm/session/engine_decoder.h"
#include "llm/session/session.h"

#include "api/state.h"
#include "tenon/llm.h"

namespace tenon::inline v1 {

struct LanguageModel::State {
  std::shared_ptr<const llm::Model> model;
  llm::DecoderInterface interface;
};

struct LanguageSession::State {
  std::shared_ptr<const LanguageModel::State> model;
  llm::Session session;
  std::string text = {};  ///< of the answer so far

  base::Result<void> begin(std::span<const llm::TokenId> prompt, const GenerationOptions& options, bool continues);
};

namespace {

llm::SamplingOptions inner(const SamplingOptions& o) {
  return {.repetition_penalty = o.repetition_penalty,
          .presence_penalty = o.presence_penalty,
          .frequency_penalty = o.frequency_penalty,
          .temperature = o.temperature,
          .top_k = o.top_k,
          .top_p = o.top_p,
          .min_p = o.min_p,
          .seed = o.seed ? *o.seed : std::random_device()()};
}

std::vector<llm::Message> inner(std::span<const Message> messages) {
  std::vector<llm::Message> out;
  for (const Message& m : messages) out.push_back({m.role, m.content});
  return out;
}

}  // namespace

base::Result<void> LanguageSession::State::begin(std::span<const llm::TokenId> prompt, const GenerationOptions& options, bool continues) {
  llm::GenerationOptions all;
  all.sampling = inner(options.sampling);
  all.max_tokens = options.max_tokens;
  all.stop = options.stop;
  all.continues = continues;
  all.run = TRY(Engine::State::run_options(options.run, model->model->engine->program()));
  text.clear();
  return session.begin(prompt, all);
}

Result<LanguageModel> LanguageModel::load(const std::filesystem::path& path, const LoadOptions& options) {
  return guarded([&] {
    return published([&]() -> base::Result<LanguageModel> {
      auto engine = TRY(open_engine(path, options));
      const auto interface = TRY(llm::decoder_interface(*engine, path.string()));
      auto model = TRY(llm::make_model(std::move(engine), TRY(llm::read_engine_text(path)), path.string()));
      return LanguageModel(std::make_shared<const State>(State{std::move(model), interface}));
    }());
  });
}

Result<std::vector<int32_t>> LanguageModel::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  return guarded(
      [&] { return published(state_->model->tokenizer.encode(text, {.add_special = add_special, .parse_special = parse_special})); });
}

std::string LanguageModel::detokenize(std::span<const int32_t> tokens) const { return state_->model->tokenizer.decode(tokens); }

Result<std::string> LanguageModel::chat_text(std::span<const Message> messages) const {
  return guarded([&] { return published(state_->model->chat_text(inner(messages))); });
}

int64_t LanguageModel::context() const { return state_->interface.capacity; }
int64_t LanguageModel::vocabulary() const { return state_->interface.vocabulary; }
uint64_t LanguageModel::weight_bytes() const { return state_->model->engine->programs().weight_bytes; }

LanguageSession::LanguageSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
LanguageSession::LanguageSession(LanguageSession&&) noexcept = default;
LanguageSession& LanguageSession::operator=(LanguageSession&&) noexcept = default;
LanguageSession::~LanguageSession() = default;

Result<LanguageSession> LanguageSession::create(const LanguageModel& model) {
  return guarded([&] {
    return published([&]() -> base::Result<LanguageSession> {
      auto session = TRY(llm::Session::create(model.state_->model));
      return LanguageSession(std::make_unique<State>(State{model.state_, std::move(session)}));
    }());
  });
}

Result<void> LanguageSession::begin_generate(std::string_view prompt, const GenerationOptions& options) {
  return guarded([&] {
    return published(
        [&]() -> base::Result<void> { return state_->begin(TRY(state_->model->model->tokenizer.encode(prompt)), options, true); }());
  });
}

Result<void> LanguageSession::begin_chat(std::span<const Message> messages, const GenerationOptions& options) {
  return guarded([&] {
    return published(
        [&]() -> base::Result<void> { return state_->begin(TRY(state_->model->model->chat_tokens(inner(messages))), options, false); }());
  });
}

Result<std::optional<std::string>> LanguageSession::next() {
  return guarded([&]() -> Result<std::optional<std::string>> {
    if (state_->session.reason() != llm::StopReason::none) return std::nullopt;
    std::string piece;
    if (const auto more = state_->session.next(piece); !more) return std::unexpected(public_error(more.error()));
    state_->text += piece;
    return std::optional(std::move(piece));
  });
}

Answer LanguageSession::answer() const {
  const llm::GenerationStatistics& s = state_->session.statistics();
  const auto tokens = state_->session.answer();
  return {.text = state_->text,
          .tokens = {tokens.begin(), tokens.end()},
          .ended_by = static_cast<StopReason>(state_->session.reason()),
          .prompt_tokens = s.prompt_tokens,
          .reused_tokens = s.reused_tokens,
          .prompt_seconds = s.prompt_seconds,
          .answer_seconds = s.answer_seconds};
}

void LanguageSession::reset() {
  state_->session.reset();
  state_->text.clear();
}

namespace {

/// The rest of an answer that has begun.
Result<Answer> finished(LanguageSession& session, const LanguageSession::OnText& on_text) {
  for (;;) {
    const auto piece = session.next();
    if (!piece) return std::unexpected(piece.error());
    if (!*piece) return session.answer();
    if (on_text && !(*piece)->empty() && !on_text(**piece)) break;
  }
  Answer out = session.answer();
  if (out.ended_by == StopReason::none) out.ended_by = StopReason::cancelled;
  return out;
}

}  // namespace

Result<Answer> LanguageSession::generate(std::string_view prompt, const GenerationOptions& options, const OnText& on_text) {
  if (auto begun = begin_generate(prompt, options); !begun) return std::unexpected(begun.error());
  return finished(*this, on_text);
}

Result<Answer> LanguageSession::chat(std::span<const Message> messages, const GenerationOptions& options, const OnText& on_text) {
  if (auto begun = begin_chat(messages, options); !begun) return std::unexpected(begun.error());
  return finished(*this, on_text);
}

}  // namespace tenon::inline v1
