// SPDX-License-Identifier: Apache-2.0
// Sources: Llama 3.1 (https://arxiv.org/abs/2407.21783), YaRN (https://arxiv.org/abs/2309.00071), LongRoPE
// (https://arxiv.org/abs/2402.13753), with the defaults of transformers' modeling_rope_utils.py.
#include "nn/families/rotation_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace tenon::nn {
namespace {

using Divisors = std::vector<double>;

/// Radians a token by which pair i of the rotation turns before scaling.
double frequency(const DecoderConfig& c, size_t i) {
  return std::pow(c.rotation_base, -2.0 * static_cast<double>(i) / static_cast<double>(c.rotated_size));
}

Result<double> positive(const Hyperparameters& model, const char* key, double default_value) {
  const double value = TRY(model.number(key, default_value));
  if (value <= 0)
    return fail(Code::bad_input, fmt::format("hyperparameter '{}'", key), "the rotation cannot be scaled by it")
        .expected("a number above 0")
        .found(fmt::format("{}", value));
  return value;
}

/// The divisor of each pair's frequency, as the model stores it.
Result<Divisors> stored_divisors(const Hyperparameters& model, const char* key, const DecoderConfig& c) {
  Divisors out = TRY(model.numbers(key));
  const bool fits = out.size() == static_cast<size_t>(c.rotated_size / 2) && std::ranges::all_of(out, [](double v) { return v > 0; });
  if (!fits)
    return fail(Code::bad_input, fmt::format("hyperparameter '{}'", key), "the factors do not fit the rotation")
        .expected(fmt::format("{} numbers above 0", c.rotated_size / 2))
        .found(fmt::format("{} numbers", out.size()));
  return out;
}

/// Llama 3: low frequencies are divided by the factor, high ones stay, those between are interpolated.
Result<void> scale_llama3(const Hyperparameters& model, DecoderConfig& c) {
  const double factor = TRY(positive(model, "rope.scaling.factor", 1)), low = TRY(positive(model, "rope.scaling.low_freq_factor", 1)),
               high = TRY(positive(model, "rope.scaling.high_freq_factor", 4)),
               original = TRY(positive(model, "rope.scaling.original_context_length", static_cast<double>(c.context)));
  if (high <= low)
    return fail(Code::bad_input, "hyperparameter 'rope.scaling.high_freq_factor'", "it is not above low_freq_factor")
        .expected(fmt::format("above {}", low))
        .found(fmt::format("{}", high));
  for (size_t i = 0; i < static_cast<size_t>(c.rotated_size / 2); ++i) {
    const double turns = original * frequency(c, i) / (2 * std::numbers::pi);  // in the original context
    const double unscaled_share = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    c.rotation_divisors.push_back(1 / ((1 - unscaled_share) / factor + unscaled_share));
  }
  return {};
}

/// The (fractional) index of the pair that turns `times` times in `context` tokens.
double pair_that_turns(const DecoderConfig& c, double times, double context) {
  return static_cast<double>(c.rotated_size) * std::log(context / (times * 2 * std::numbers::pi)) / (2 * std::log(c.rotation_base));
}

Result<void> scale_yarn(const Hyperparameters& model, DecoderConfig& c) {
  const double original = TRY(positive(model, "rope.scaling.original_context_length", static_cast<double>(c.context)));
  const double factor = TRY(positive(model, "rope.scaling.factor", static_cast<double>(c.context) / original));
  const double fast = TRY(positive(model, "rope.scaling.yarn_beta_fast", 32)),
               slow = TRY(positive(model, "rope.scaling.yarn_beta_slow", 1));
  double begin = pair_that_turns(c, fast, original), end = pair_that_turns(c, slow, original);
  if (TRY(model.number("rope.scaling.truncate", 1)) != 0) {
    begin = std::floor(begin);
    end = std::ceil(end);
  }
  begin = std::max(begin, 0.0);
  end = std::min(end, static_cast<double>(c.rotated_size - 1));
  if (begin == end) end += 0.001;
  for (size_t i = 0; i < static_cast<size_t>(c.rotated_size / 2); ++i) {
    const double unscaled_share = 1 - std::clamp((static_cast<double>(i) - begin) / (end - begin), 0.0, 1.0);
    c.rotation_divisors.push_back(1 / ((1 - unscaled_share) / factor + unscaled_share));
  }
  const double default_magnitude = factor <= 1 ? 1 : 0.1 * std::log(factor) + 1;
  c.rotation_magnitude =
      TRY(positive(model, "rope.scaling.magnitude", default_magnitude * TRY(positive(model, "rope.scaling.attn_factor", 1))));
  return {};
}

Result<void> scale_longrope(const Hyperparameters& model, int64_t capacity, DecoderConfig& c) {
  const double original = TRY(positive(model, "rope.scaling.original_context_length", static_cast<double>(c.context)));
  const double factor = TRY(positive(model, "rope.scaling.factor", static_cast<double>(c.context) / original));
  const bool is_long = static_cast<double>(capacity > 0 ? capacity : c.context) > original;
  c.rotation_divisors = TRY(stored_divisors(model, is_long ? "rope.factors_long" : "rope.factors_short", c));
  const double default_magnitude = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
  c.rotation_magnitude =
      TRY(positive(model, "rope.scaling.magnitude", TRY(positive(model, "rope.scaling.attn_factor", default_magnitude))));
  return {};
}

/// Dynamic NTK: the base grows from the context of the training on, as in transformers; the model's context is `factor` times as long, as
/// in vLLM.
Result<void> scale_dynamic(const Hyperparameters& model, DecoderConfig& c) {
  const double original = TRY(positive(model, "rope.scaling.original_context_length", static_cast<double>(c.context)));
  c.dynamic_factor = TRY(positive(model, "rope.scaling.factor", 1));
  if (c.rotated_size <= 2)
    return fail(Code::bad_input, "hyperparameter 'rope.dimension_count'", "the base of so small a rotation cannot grow")
        .expected("at least 4")
        .found(std::to_string(c.rotated_size));
  constexpr double kMost = 1 << 30;
  c.dynamic_context = static_cast<int64_t>(std::clamp(original, 1.0, kMost));
  c.context = std::max(c.context, static_cast<int64_t>(std::min(static_cast<double>(c.dynamic_context) * c.dynamic_factor, kMost)));
  return {};
}

}  // namespace

Result<void> scale_rotation(const Hyperparameters& model, int64_t capacity, DecoderConfig& config) {
  if (model.has("rope.factors")) config.rotation_divisors = TRY(stored_divisors(model, "rope.factors", config));
  const bool has_both = model.has("rope.factors_long") && model.has("rope.factors_short");
  const std::string scaling = TRY(model.text("rope.scaling.type", has_both ? "longrope" : "none"));
  if (scaling == "none") return {};
  if (scaling == "linear") {
    config.rotation_factor = TRY(positive(model, "rope.scaling.factor", 1));
    return {};
  }
  if (scaling == "llama3") return scale_llama3(model, config);
  if (scaling == "yarn") return scale_yarn(model, config);
  if (scaling == "longrope" || scaling == "su") return scale_longrope(model, capacity, config);
  if (scaling == "dynamic") return scale_dynamic(model, config);
  return fail(Code::not_supported, "hyperparameter 'rope.scaling.type'",
              fmt::format("not supported yet: scaling '{}' of positions", scaling))
      .expected("none, linear, llama3, yarn, longrope or dynamic");
}

}  // namespace tenon::nn
