// SPDX-License-Identifier: Apache-2.0
#include "llm/session/engine_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::llm {
namespace {

using runtime::PortInfo;
using runtime::StateInfo;

std::string type_of(const PortInfo& port) {
  return fmt::format("{}: {}[{}]", port.name, name_of(port.dtype), fmt::join(port.dimensions, ","));
}

std::string ports_text(std::span<const PortInfo> ports) {
  std::string out;
  for (const PortInfo& p : ports) out += (out.empty() ? "" : ", ") + type_of(p);
  return out.empty() ? "none" : out;
}

/// [batch, new].
bool is_tokens(const PortInfo& port) {
  return (port.dtype == DType::i64 || port.dtype == DType::i32) && port.container.kind == ValueKind::tensor && port.lower.size() == 2 &&
         port.upper[1] > 1;
}

/// [batch, vocabulary], or [1, new, vocabulary] where new may be 1.
bool is_logits(const PortInfo& port) {
  const bool fits =
      port.dtype == DType::f32 && port.container.kind == ValueKind::tensor && port.lower.size() >= 2 && port.lower.size() <= 3;
  return fits && (port.lower.size() == 2 || (port.lower[0] <= 1 && port.lower[1] <= 1)) && port.lower.back() == port.upper.back() &&
         port.lower.back() > 0;
}

bool takes_sequences(const PortInfo& port, int64_t batch) { return port.lower[0] <= batch && batch <= port.upper[0]; }

bool is_finite(const Tensor& state) {
  if (!is_float(state.dtype())) return true;
  for (int64_t i = 0; i < state.count(); ++i)
    if (!std::isfinite(state.number(i))) return false;
  return true;
}

/// Whether the state is the number of tokens so far of a decoder with rings (nn::make_decoder).
bool is_position(const StateInfo& state) {
  return state.name == "position" && state.dtype == DType::i64 && !state.growing_axis && state.shape == Sizes{1};
}

Error no_decoder(const runtime::Engine& engine, std::string_view place) {
  return fail(Code::bad_input, std::string(place), "the engine is no language model")
      .expected("one input of tokens, i64[1,new], one output of logits, f32[1,vocabulary], and states that grow or none")
      .found(fmt::format("inputs {}; outputs {}; {} states", ports_text(engine.inputs()), ports_text(engine.outputs()),
                         engine.states().size()))
      .advice("build one from a GGUF file or a Hugging Face folder, or from an ONNX decoder with --state auto");
}

}  // namespace

Result<DecoderInterface> decoder_interface(const runtime::Engine& engine, std::string_view place, int64_t batch) {
  const bool fits =
      engine.inputs().size() == 1 && engine.outputs().size() == 1 && is_tokens(engine.inputs()[0]) && is_logits(engine.outputs()[0]);
  if (!fits) return no_decoder(engine, place);
  const PortInfo &tokens = engine.inputs()[0], &logits = engine.outputs()[0];
  const bool has_all_logits = logits.lower.size() == 3;
  if (!takes_sequences(tokens, batch) || !takes_sequences(logits, batch) || (has_all_logits && batch > 1))
    return fail(Code::bad_usage, std::string(place), "the engine runs another number of sequences")
        .expected(fmt::format("tokens of {} sequence{}", batch, batch == 1 ? "" : "s"))
        .found(fmt::format("inputs {}; outputs {}", ports_text(engine.inputs()), ports_text(engine.outputs())))
        .advice(fmt::format("build it with --batch {}, or with --batch 0 for any number", batch));
  DecoderInterface out{.vocabulary = logits.lower.back(), .capacity = INT64_MAX, .most_tokens = tokens.upper[1]};
  out.has_cache = !engine.states().empty();
  out.can_be_shortened = true;
  out.narrow_tokens = tokens.dtype == DType::i32;
  if (!out.has_cache) out.capacity = out.most_tokens;
  out.ring_rows = INT64_MAX;
  for (size_t k = 0; k < engine.states().size(); ++k) {
    const StateInfo& s = engine.states()[k];
    if (s.growing_axis) out.capacity = std::min(out.capacity, s.shape[*s.growing_axis]);
    else out.can_be_shortened = false;
    if (is_position(s)) out.position = k;
    else if (s.shape.size() == 4) out.ring_rows = std::min(out.ring_rows, s.shape[2]);
  }
  if (out.capacity < INT64_MAX) out.position.reset();
  if (out.capacity == INT64_MAX && !out.position) return no_decoder(engine, place);
  return out;
}

Result<std::unique_ptr<EngineDecoder>> EngineDecoder::create(std::shared_ptr<const runtime::Engine> engine, std::string_view place) {
  const DecoderInterface interface = TRY(decoder_interface(*engine, place));
  auto context = TRY(runtime::Context::create(engine));
  std::unique_ptr<EngineDecoder> out(new EngineDecoder(interface, std::move(engine), std::move(context)));
  if (interface.position) TRY(out->context_->bind_state(*interface.position, Tensor::view(DType::i64, {1}, out->position_.get(), nullptr)));
  return out;
}

Result<std::span<const float>> EngineDecoder::run(std::span<const TokenId> tokens, const runtime::RunOptions& options) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count == 0 || count > interface_.capacity - length_)
    return fail(Code::bad_input, "tokens", "the cache has no room for them")
        .expected(fmt::format("1 .. {} tokens", interface_.capacity - length_))
        .found(fmt::format("{}", count));
  const Tensor input = input_of(tokens);
  const auto results = context_->run({&input, 1}, options);
  if (!results) {
    if (!interface_.can_be_shortened) clear();  // states that grow are as they were
    else if (!interface_.has_cache) sequence_.resize(static_cast<size_t>(length_));
    return std::unexpected(results.error());
  }
  length_ += count;
  written_ = std::max(written_, length_);
  const std::span<const float> logits = results->front().as<float>();
  return logits.last(static_cast<size_t>(interface_.vocabulary));
}

int64_t EngineDecoder::shorten(int64_t length) {
  if (length >= length_) return length_;
  bool cut = length > 0 && (interface_.position ? has_rows_before(length) : interface_.can_be_shortened);
  for (size_t k = 0; k < engine_->states().size() && cut && !interface_.position; ++k) cut = context_->set_length(k, length).has_value();
  if (cut) length_ = *position_ = length;
  else clear();
  if (!interface_.has_cache) sequence_.resize(static_cast<size_t>(length_));
  return length_;
}

bool EngineDecoder::has_rows_before(int64_t length) const {
  // A ring has rows for its window and for the tokens of one run.
  return written_ <= interface_.ring_rows || written_ - length <= interface_.most_tokens;
}

std::string EngineDecoder::first_not_finite() const {
  for (size_t k = 0; k < engine_->states().size(); ++k) {
    const auto value = context_->state_value(k);
    if (!value || is_finite(*value)) continue;
    const std::string& name = engine_->states()[k].name;
    const std::string layer = name.substr(std::min(name.find_last_not_of("0123456789") + 1, name.size()));
    return fmt::format("state '{}'{}", name, layer.empty() ? "" : ", of layer " + layer);
  }
  return {};
}

Tensor EngineDecoder::input_of(std::span<const TokenId> tokens) {
  if (!interface_.has_cache) {
    sequence_.insert(sequence_.end(), tokens.begin(), tokens.end());
    tokens = sequence_;
  }
  const Sizes shape{1, static_cast<int64_t>(tokens.size())};
  if (interface_.narrow_tokens) return Tensor::view(DType::i32, shape, tokens.data(), nullptr);
  wide_.assign(tokens.begin(), tokens.end());
  return Tensor::view(DType::i64, shape, wide_.data(), nullptr);
}

void EngineDecoder::clear() {
  context_->reset();
  length_ = written_ = 0;
}

}  // namespace tenon::llm
