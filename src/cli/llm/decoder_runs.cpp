// SPDX-License-Identifier: Apache-2.0
#include "cli/llm/decoder_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "cli/bench/trace.h"

namespace tenon::cli {
namespace {

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Tensor number(int64_t value) { return Tensor::of_i64({1}, {&value, 1}); }

/// Copies the tokens at begin, begin + 1, ... of the first sequences to `to`, i64[batch, count].
void copy_tokens(const Tensor& tokens, int64_t batch, int64_t begin, int64_t count, int64_t* to) {
  const std::span<const int64_t> all = tokens.as<int64_t>();
  for (int64_t k = 0; k < batch; ++k)
    to = std::ranges::copy(all.subspan(static_cast<size_t>(k * tokens.shape()[1] + begin), static_cast<size_t>(count)), to).out;
}

Tensor columns(const Tensor& tokens, int64_t batch, int64_t begin, int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(batch * count));
  copy_tokens(tokens, batch, begin, count, out.data());
  return Tensor::of_i64({batch, count}, out);
}

}  // namespace

Result<DecoderRuns> DecoderRuns::create(std::shared_ptr<const runtime::Engine> engine, const std::string& place, const DecoderWork& most,
                                        const runtime::RunOptions& options, uint64_t seed) {
  const llm::DecoderInterface interface = TRY(llm::decoder_interface(*engine, place, most.batch));
  if (!interface.has_cache)
    return fail(Code::not_supported, place, "not supported yet: tokens of a decoder without a cache")
        .expected("an engine with states")
        .found("one that is given the whole sequence in each run")
        .advice("build it without kv_cache_type DISABLED");
  if (interface.position)
    return fail(Code::not_supported, place, "not supported yet: tokens of a decoder with a window (--window)")
        .expected("an engine whose states grow")
        .found("one whose states are rings")
        .advice("build it without --window");
  if (most.tokens > interface.capacity)
    return fail(Code::bad_usage, place, "the cache has no room for so many tokens")
        .expected(fmt::format("at most {} tokens", interface.capacity))
        .found(std::to_string(most.tokens))
        .advice("measure fewer tokens, or build with a larger --context");
  auto context = TRY(runtime::Context::create(engine));
  DecoderRuns out(std::move(engine), interface, std::move(context), options);
  std::mt19937_64 random(seed);
  out.tokens_ = TRY(Tensor::make(DType::i64, {most.batch, most.tokens}));
  for (int64_t& token : out.tokens_.as_mutable<int64_t>())
    token = static_cast<int64_t>(random() % static_cast<uint64_t>(interface.vocabulary));
  return out;
}

void DecoderRuns::set_tokens(std::span<const int64_t> tokens) { std::ranges::copy(tokens, tokens_.as_mutable<int64_t>().begin()); }

Result<double> DecoderRuns::timed(const DecoderWork& work) {
  TRY(keep(work));
  const auto start = std::chrono::steady_clock::now();
  TRY(run_all(work));
  return ms_since(start);
}

Result<WorkAmounts> DecoderRuns::amounts(const DecoderWork& work) {
  TRY(keep(work));
  WorkAmounts out;
  for (int64_t done = 0; done < work.tokens;) {
    const int64_t count = next_count(work, done);
    const Tensor input = next_input(count);
    const runtime::Program& program = engine_->program_for({&input, 1});
    const double cached = cached_row_bytes() * static_cast<double>(length_);
    TRY(run(count));
    done += count;
    const std::vector<double> flops = flops_of_steps(program, context_->sizes());
    const ByProductKind products = flops_by_products(program, flops);
    for (size_t p = 0; p < kProductKinds; ++p) out.flops[p] += products[p];
    out.bytes += weight_bytes_read(program, context_->sizes(), flops) + cached;
  }
  return out;
}

Result<Tensor> DecoderRuns::logits(const DecoderWork& work) {
  TRY(keep(work));
  Tensor out = TRY(Tensor::make(DType::f32, {work.tokens, interface_.vocabulary}));
  float* to = out.as_mutable<float>().data();
  for (int64_t k = 0; k < work.tokens; ++k) to = std::ranges::copy(TRY(run(1)), to).out;
  return out;
}

int64_t DecoderRuns::next_count(const DecoderWork& work, int64_t done) const {
  return work.decodes ? 1 : std::min(at_once(), work.tokens - done);
}

Result<void> DecoderRuns::keep(const DecoderWork& work) {
  const int64_t length = work.past;
  bool cut = interface_.can_be_shortened && length > 0 && length <= length_ && work.batch == batch_;
  for (size_t k = 0; k < engine_->states().size() && cut; ++k) cut = context_->set_length(k, length).has_value();
  if (!cut) context_->reset();
  length_ = cut ? length : 0;
  batch_ = work.batch;
  while (length_ < length) TRY(run(std::min(at_once(), length - length_)));
  return {};
}

Tensor DecoderRuns::next_input(int64_t count) {
  next_.resize(static_cast<size_t>(batch_ * count));
  copy_tokens(tokens_, batch_, length_, count, next_.data());
  if (!interface_.narrow_tokens) return Tensor::view(DType::i64, {batch_, count}, next_.data(), nullptr);
  narrow_.assign(next_.begin(), next_.end());
  return Tensor::view(DType::i32, {batch_, count}, narrow_.data(), nullptr);
}

Result<std::span<const float>> DecoderRuns::run(int64_t count) {
  const Tensor input = next_input(count);
  const auto results = TRY(context_->run({&input, 1}, options_));
  length_ += count;
  return results.front().as<float>().last(static_cast<size_t>(interface_.vocabulary));
}

Result<void> DecoderRuns::run_all(const DecoderWork& work) {
  for (int64_t done = 0; done < work.tokens;) {
    const int64_t count = next_count(work, done);
    TRY(run(count));
    done += count;
  }
  return {};
}

double DecoderRuns::cached_row_bytes() const {
  double out = 0;
  for (const runtime::StateInfo& s : engine_->states()) {
    if (!s.growing_axis) continue;
    double elements = 1;
    for (size_t d = 0; d < s.shape.size(); ++d)
      if (d != *s.growing_axis) elements *= static_cast<double>(s.shape[d] == runtime::kFreeSize ? batch_ : s.shape[d]);
    out += elements * bits_of(s.dtype) / 8;
  }
  return out;
}

files::NamedTensors peer_work(const Tensor& tokens, const DecoderWork& work, bool wants_logits) {
  return {{"past", columns(tokens, work.batch, 0, work.past)},
          {"tokens", columns(tokens, work.batch, work.past, work.tokens)},
          {"decodes", number(work.decodes)},
          {"wants_logits", number(wants_logits)},
          {"context", number(tokens.shape()[1])}};
}

}  // namespace tenon::cli
