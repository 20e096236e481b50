// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "llm/session/decoder.h"
#include "runtime/engine.h"

namespace tenon::llm {

/// The properties of an engine that runs as a decoder.
struct DecoderInterface {
  int64_t vocabulary = 0;         ///< number of logits
  int64_t capacity = 0;           ///< the most tokens of a sequence
  int64_t most_tokens = 0;        ///< the most tokens that one run takes
  bool has_cache = true;          ///< false: no states; a run is given the whole sequence
  bool narrow_tokens = false;     ///< tokens are i32, not i64
  bool can_be_shortened = false;  ///< every state grows
  /// With states that are rings (nn::Stream): the index of the state with the number of tokens so far. `capacity` is INT64_MAX then.
  std::optional<size_t> position = {};
  int64_t ring_rows = 0;  ///< of the shortest ring: the number of tokens that overwrite no row
};
/// Checks that an engine is a decoder, and returns its properties. It has an entry with one input, i64 or i32 [batch, new], and one output,
/// f32[batch, vocabulary] or, of one sequence, f32[1, new, vocabulary], over states or without. Errors: bad_input for any other engine,
/// saying what it has; bad_usage for one of another number of sequences.
Result<DecoderInterface> decoder_interface(const runtime::Engine& engine, std::string_view place, int64_t batch = 1);

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
      : interface_(interface), engine_(std::move(engine)), context_(std::move(context)), position_(std::make_unique<int64_t>(0)) {}
  /// The tokens as the engine's input, without a cache those before them too: a view of them, or of sequence_ or wide_.
  Tensor input_of(std::span<const TokenId> tokens);
  void clear();
  /// Whether a stream's rings still have all that tokens from `length` on read.
  bool has_rows_before(int64_t length) const;

  DecoderInterface interface_;
  std::shared_ptr<const runtime::Engine> engine_;
  std::unique_ptr<runtime::Context> context_;
  std::vector<TokenId> sequence_;  ///< where there is no cache: all tokens
  std::vector<int64_t> wide_;      ///< tokens converted to i64
  int64_t length_ = 0;
  int64_t written_ = 0;                ///< the largest length since all states were reset
  std::unique_ptr<int64_t> position_;  ///< of a stream, bound to its state
};

}  // namespace tenon::llm
