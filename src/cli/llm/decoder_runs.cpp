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

Tensor row_of(std::span<const int64_t> values) { return Tensor::of_i64({static_cast<int64_t>(values.size())}, values); }

}  // namespace

Result<DecoderRuns> DecoderRuns::create(std::shared_ptr<const runtime::Engine> engine, const std::string& place, int64_t most,
                                        const runtime::RunOptions& options, uint64_t seed) {
  const llm::DecoderInterface interface = TRY(llm::decoder_interface(*engine, place));
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
  if (most > interface.capacity)
    return fail(Code::bad_usage, place, "the cache has no room for so many tokens")
        .expected(fmt::format("at most {} tokens", interface.capacity))
        .found(std::to_string(most))
        .advice("measure fewer tokens, or build with a larger --context");
  auto context = TRY(runtime::Context::create(engine));
  DecoderRuns out(std::move(engine), interface, std::move(context), options);
  std::mt19937_64 random(seed);
  std::vector<int64_t> tokens;
  for (int64_t k = 0; k < most; ++k) tokens.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(interface.vocabulary)));
  out.set_tokens(std::move(tokens));
  return out;
}

void DecoderRuns::set_tokens(std::vector<int64_t> tokens) {
  narrow_.assign(tokens.begin(), tokens.end());
  tokens_ = std::move(tokens);
}

Result<double> DecoderRuns::timed(const DecoderWork& work) {
  TRY(keep(work.past));
  const auto start = std::chrono::steady_clock::now();
  TRY(run_all(work));
  return ms_since(start);
}

Result<WorkAmounts> DecoderRuns::amounts(const DecoderWork& work) {
  TRY(keep(work.past));
  WorkAmounts out;
  for (int64_t done = 0; done < work.tokens;) {
    const int64_t count = next_count(work, done);
    const Tensor input = Tensor::view(DType::i64, {1, count}, tokens_.data() + length_, nullptr);
    const runtime::Program& program = engine_->program_for({&input, 1});
    const double cached = cached_row_bytes() * static_cast<double>(length_);
    TRY(run(count));
    done += count;
    const std::vector<double> flops = flops_of_steps(program, context_->sizes());
    const ByProducts products = flops_by_products(program, flops);
    for (size_t p = 0; p < kProducts; ++p) out.flops[p] += products[p];
    out.bytes += weight_bytes_read(program, context_->sizes(), flops) + cached;
  }
  return out;
}

Result<Tensor> DecoderRuns::logits(const DecoderWork& work) {
  TRY(keep(work.past));
  Tensor out = TRY(Tensor::make(DType::f32, {work.tokens, interface_.vocabulary}));
  float* to = out.as_mutable<float>().data();
  for (int64_t k = 0; k < work.tokens; ++k) to = std::ranges::copy(TRY(run(1)), to).out;
  return out;
}

int64_t DecoderRuns::next_count(const DecoderWork& work, int64_t done) const {
  return work.decodes ? 1 : std::min(at_once_, work.tokens - done);
}

Result<void> DecoderRuns::keep(int64_t length) {
  bool cut = interface_.can_be_shortened && length > 0 && length <= length_;
  for (size_t k = 0; k < engine_->states().size() && cut; ++k) cut = context_->set_length(k, length).has_value();
  if (!cut) context_->reset();
  length_ = cut ? length : 0;
  while (length_ < length) TRY(run(std::min(at_once_, length - length_)));
  return {};
}

Result<std::span<const float>> DecoderRuns::run(int64_t count) {
  const bool narrow = interface_.narrow_tokens;
  const void* from = narrow ? static_cast<const void*>(narrow_.data() + length_) : tokens_.data() + length_;
  const Tensor input = Tensor::view(narrow ? DType::i32 : DType::i64, {1, count}, from, nullptr);
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
    for (size_t d = 0; d < s.shape.size(); ++d) elements *= d == *s.growing_axis ? 1 : static_cast<double>(s.shape[d]);
    out += elements * bits_of(s.dtype) / 8;
  }
  return out;
}

files::NamedTensors peer_work(std::span<const int64_t> tokens, const DecoderWork& work, bool wants_logits) {
  const auto past = static_cast<size_t>(work.past), count = static_cast<size_t>(work.tokens);
  const int64_t decodes = work.decodes, wanted = wants_logits, context = static_cast<int64_t>(tokens.size());
  return {{"past", row_of(tokens.first(past))},
          {"tokens", row_of(tokens.subspan(past, count))},
          {"decodes", row_of({&decodes, 1})},
          {"wants_logits", row_of({&wanted, 1})},
          {"context", row_of({&context, 1})}};
}

}  // namespace tenon::cli
