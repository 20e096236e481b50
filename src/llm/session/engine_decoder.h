// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "llm/session/decoder.h"
#include "runtime/engine.h"

namespace tenon::llm {

/// How an engine runs as a decoder.
struct DecoderInterface {
  int64_t vocabulary = 0;
  int64_t capacity = 0;
  int64_t most_tokens = 0;        ///< of a run
  bool has_cache = true;          ///< false: no states; a run is given the whole sequence
  bool narrow_tokens = false;     ///< i32 in place of i64
  bool can_be_shortened = false;  ///< every state grows
};
/// Of an entry with one input, i64 or i32 [1, new], and one output, f32[1, vocabulary] or f32[1, new, vocabulary], over states or without.
/// Errors: bad_input for any other engine, saying what it has.
Result<DecoderInterface> decoder_interface(const runtime::Engine& engine, std::string_view place);

/// The decoder of an engine, with states of its own.
class EngineDecoder : public Decoder {
 public:
  /// Errors: those of decoder_interface() and of Context::create.
  static Result<std::unique_ptr<EngineDecoder>> create(std::shared_ptr<const runtime::Engine> engine, std::string_view place);

  int64_t vocabulary() const override { return interface_.vocabulary; }
  int64_t capacity() const override { return interface_.capacity; }
  int64_t most_tokens() const override { return interface_.most_tokens; }
  int64_t length() const override { return length_; }
  Result<std::span<const float>> run(std::span<const TokenId> tokens, const runtime::RunOptions& options) override;
  int64_t shorten(int64_t length) override;
  std::string first_not_finite() const override;

 private:
  EngineDecoder(const DecoderInterface& interface, std::shared_ptr<const runtime::Engine> engine, std::unique_ptr<runtime::Context> context)
      : interface_(interface), engine_(std::move(engine)), context_(std::move(context)) {}
  /// The tokens as the engine's input, without a cache those before them too: a view of them, or of sequence_ or wide_.
  Tensor input_of(std::span<const TokenId> tokens);
  void clear();

  DecoderInterface interface_;
  std::shared_ptr<const runtime::Engine> engine_;
  std::unique_ptr<runtime::Context> context_;
  std::vector<TokenId> sequence_;  ///< where there is no cache: all tokens
  std::vector<int64_t> wide_;
  int64_t length_ = 0;
};

}  // namespace tenon::llm
