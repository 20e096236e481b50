// SPDX-License-Identifier: Apache-2.0
/// Language models: an engine that was built from a GGUF file or a folder of Hugging Face answers in text.
///
/// Link `tenon::llm`, which loads and runs engines as `tenon::run` does, with no compiler inside; do not link it beside `tenon::tenon` or
/// `tenon::run`, whose names it has. Nothing here throws.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tenon.h"

namespace tenon::inline v1 {

/// How the next token is chosen. The steps are those of transformers, in its order: penalties, temperature, top-k, top-p, min-p; what is
/// left is drawn from.
struct SamplingOptions {
  double temperature = 0.8;        ///< divides logits; 0: always the likeliest token
  int64_t top_k = 40;              ///< keeps the k likeliest; 0: all
  double top_p = 0.95;             ///< keeps the likeliest until their probabilities add up to it; 1: all
  double min_p = 0.05;             ///< keeps those at least this fraction as likely as the likeliest; 0: all
  double repetition_penalty = 1;   ///< makes tokens of prompt and answer less likely; 1: none
  double presence_penalty = 0;     ///< subtracted from the logits of tokens in the answer
  double frequency_penalty = 0;    ///< the same, times how often they are there
  std::optional<uint64_t> seed{};  ///< equal seeds give equal answers; none: another one each time
};

struct GenerationOptions {
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;              ///< of an answer; 0: until it ends, or the context is full
  std::vector<std::string> stop = {};  ///< texts that end an answer, without being part of it
  /// threads, thread_pool and deadline of its runs; `stop` ends an answer, which is no error. Other members have no meaning here.
  RunOptions run = {};
};

/// One turn of a chat.
struct Message {
  std::string role;  ///< "system", "user", "assistant", or what else the model's chat template has
  std::string content;
};

/// What ended an answer.
enum class StopReason : uint8_t { none = 0, end_token = 1, stop_string = 2, max_tokens = 3, context_full = 4, cancelled = 5 };

struct Answer {
  std::string text;
  std::vector<int32_t> tokens;  ///< with the one that ended it
  StopReason ended_by = StopReason::none;
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  ///< of the prompt: those that were in the session's cache
  double prompt_seconds = 0;  ///< up to the logits of the first token
  double answer_seconds = 0;  ///< the rest
};

/// A model with its tokenizer and its chat template. Immutable; copies are the same model, and any number of threads may use it at once.
class LanguageModel {
 public:
  /// Of an engine file. Errors: those of Engine::load; bad_input (an engine that is no language model); bad_file (one without a tokenizer).
  TENON_API static Result<LanguageModel> load(const std::filesystem::path& path, const LoadOptions& options = {});

  /// add_special: with what the tokenizer puts around a text. parse_special: special tokens that are written in the text become those;
  /// false: their letters, as is right for what strangers write. Errors: limit_exceeded.
  TENON_API Result<std::vector<int32_t>> tokenize(std::string_view text, bool add_special = true, bool parse_special = true) const;
  /// The text of tokens, special ones left out.
  TENON_API std::string detokenize(std::span<const int32_t> tokens) const;
  /// The text that the chat template makes of the turns, up to where the answer begins. Errors: not_supported (the model has no template);
  /// bad_input (the template refuses a role, or an order of roles).
  TENON_API Result<std::string> chat_text(std::span<const Message> messages) const;
  /// Tokens of prompt and answer for which a session has room; INT64_MAX where a sequence has no end (CompileOptions::window).
  TENON_API int64_t context() const;
  TENON_API int64_t vocabulary() const;
  TENON_API uint64_t weight_bytes() const;

 private:
  friend class LanguageSession;
  struct State;
  explicit LanguageModel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Answers prompts, one after the other, over one cache: what a prompt has in common with the tokens before it is not computed again. One
/// thread at a time.
class LanguageSession {
 public:
  TENON_API static Result<LanguageSession> create(const LanguageModel& model);
  TENON_API LanguageSession(LanguageSession&&) noexcept;
  TENON_API LanguageSession& operator=(LanguageSession&&) noexcept;
  TENON_API ~LanguageSession();

  /// Gets the text as it comes, in whole characters; false ends the answer.
  using OnText = std::function<bool(std::string_view piece)>;
  /// Continues a text. Errors: bad_input (an empty prompt; one that is longer than the context); bad_usage (options); those of runs.
  TENON_API Result<Answer> generate(std::string_view prompt, const GenerationOptions& options = {}, const OnText& on_text = {});
  /// Answers the last turn. Errors: as generate(), and those of LanguageModel::chat_text.
  TENON_API Result<Answer> chat(std::span<const Message> messages, const GenerationOptions& options = {}, const OnText& on_text = {});

  /// The same answer in steps: begin, then next() until it returns none.
  TENON_API Result<void> begin_generate(std::string_view prompt, const GenerationOptions& options = {});
  TENON_API Result<void> begin_chat(std::span<const Message> messages, const GenerationOptions& options = {});
  /// Computes one more token. The text that is certain then, which may be empty; none: the answer has ended.
  TENON_API Result<std::optional<std::string>> next();
  /// What there is of the answer.
  TENON_API Answer answer() const;
  /// Forgets all tokens.
  TENON_API void reset();

 private:
  struct State;
  explicit LanguageSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tenon::inline v1
