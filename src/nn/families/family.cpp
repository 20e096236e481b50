// SPDX-License-Identifier: Apache-2.0
#include "nn/families/family.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "nn/families/rotation_scaling.h"

namespace tenon::nn {

#define TENON_ENTRY(name) extern const Family family_##name;
#include "tenon/families_list.inc"
#undef TENON_ENTRY

std::span<const Family* const> families() {
  static constexpr const Family* kFamilies[] = {
#define TENON_ENTRY(name) &family_##name,
#include "tenon/families_list.inc"
#undef TENON_ENTRY
  };
  return kFamilies;
}

namespace {

Error unknown_family(std::string place, std::string_view found, const std::vector<std::string>& names) {
  return fail(Code::not_supported, std::move(place), fmt::format("not supported yet: models of the kind '{}'", found))
      .expected(fmt::format("one of: {}", fmt::join(names, ", ")))
      .found(std::string(found))
      .advice(did_you_mean(found, names));
}

}  // namespace

Result<const Family*> family_of(std::string_view architecture) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name == architecture) return family;
    names.emplace_back(family->name);
  }
  return unknown_family("general.architecture", architecture, names);
}

Result<const Family*> family_of_model_type(std::string_view model_type) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (std::ranges::find(family->model_types, model_type) != family->model_types.end()) return family;
    names.insert(names.end(), family->model_types.begin(), family->model_types.end());
  }
  return unknown_family("model_type of config.json", model_type, names);
}

namespace {

constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxHeadSize = 1 << 14;

Result<void> fill_sizes(const Family& family, const Hyperparameters& model, DecoderConfig& c) {
  c.layers = TRY(model.size("block_count"));
  if (c.layers > kMaxLayers)
    return fail(Code::limit_exceeded, "hyperparameter 'block_count'", "the model has too many layers")
        .expected(fmt::format("at most {}", kMaxLayers))
        .found(std::to_string(c.layers));
  c.width = TRY(model.size("embedding_length"));
  c.context = family.context == 0 ? TRY(model.size("context_length")) : TRY(model.size("context_length", family.context));
  const bool has_inner_width = family.default_inner_factor == 0 || model.has("feed_forward_length");
  c.inner_width = has_inner_width ? TRY(model.size("feed_forward_length")) : family.default_inner_factor * c.width;
  c.heads = TRY(model.size("attention.head_count"));
  c.key_heads = TRY(model.size("attention.head_count_kv", c.heads));
  if (c.heads % c.key_heads != 0)
    return fail(Code::bad_input, "hyperparameter 'attention.head_count_kv'", "heads of keys do not divide those of queries")
        .expected(fmt::format("a divisor of attention.head_count, {}", c.heads))
        .found(std::to_string(c.key_heads));
  if (!model.has("attention.key_length") && c.width % c.heads != 0)
    return fail(Code::bad_input, "hyperparameter 'attention.head_count'", "heads do not divide the width of the embedding")
        .expected(fmt::format("a divisor of embedding_length, {}", c.width))
        .found(std::to_string(c.heads));
  c.head_size = TRY(model.size("attention.key_length", c.width / c.heads));
  if (c.head_size > kMaxHeadSize)
    return fail(Code::limit_exceeded, "hyperparameter 'attention.key_length'", "heads are too large")
        .expected(fmt::format("at most {} elements", kMaxHeadSize))
        .found(std::to_string(c.head_size));
  if (const int64_t values = TRY(model.size("attention.value_length", c.head_size)); values != c.head_size)
    return fail(Code::not_supported, "hyperparameter 'attention.value_length'",
                "not supported yet: heads of values of another size than keys")
        .expected(std::to_string(c.head_size))
        .found(std::to_string(values));
  return {};
}

Result<void> fill_rotation(const Hyperparameters& model, DecoderConfig& c) {
  c.rotated_size = TRY(model.size("rope.dimension_count", c.head_size));
  c.rotation_base = TRY(model.number("rope.freq_base", c.rotation_base));
  if (c.rotated_size > c.head_size || c.rotated_size % 2 != 0 || c.rotation_base <= 0)
    return fail(Code::bad_input, "hyperparameters rope.*", "the rotation cannot be")
        .expected(fmt::format("an even rope.dimension_count of at most {}, a positive rope.freq_base", c.head_size))
        .found(fmt::format("{} and {}", c.rotated_size, c.rotation_base));
  return {};
}

Result<Activation> activation_of(const Hyperparameters& model, Activation default_value) {
  if (!model.has("activation")) return default_value;
  const std::string name = TRY(model.text("activation", ""));
  if (name == "silu" || name == "swish") return Activation::silu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" || name == "gelu_fast") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  return fail(Code::not_supported, "hyperparameter 'activation'", fmt::format("not supported yet: the activation '{}'", name))
      .expected("silu, gelu, gelu_pytorch_tanh or relu");
}

}  // namespace

Result<Rotation> stored_rotation(const Hyperparameters& model) {
  return TRY(model.text("rope.layout", "interleaved")) == "half_split" ? Rotation::half_split : Rotation::interleaved;
}

Result<ir::ConstantRef> ungrouped_rows(ir::ConstantRef weight, int64_t groups, int64_t queries, const std::string& name) {
  const Sizes shape = weight->shape;
  const int64_t heads = groups * (queries + 2);
  if (shape.empty() || shape[0] % heads != 0)
    return fail(Code::bad_input, name, "the rows of the joined projection are no whole heads")
        .expected(fmt::format("a multiple of {} rows", heads))
        .found(fmt::format("[{}]", fmt::join(shape, ", ")));
  Sizes grouped{groups, queries + 2, shape[0] / heads}, rows = shape;
  grouped.insert(grouped.end(), shape.begin() + 1, shape.end());
  const ir::ConstantRef all = ir::reshape(std::move(weight), grouped);
  std::vector<ir::ConstantRef> parts;
  for (const auto& [begin, end] : {std::pair{int64_t{0}, queries}, {queries, queries + 1}, {queries + 1, queries + 2}}) {
    rows[0] = groups * (end - begin) * grouped[2];
    parts.push_back(ir::reshape(ir::slice(all, 1, begin, end), rows));
  }
  return ir::concat(std::move(parts), 0);
}

Result<void> add_windows(const Hyperparameters& model, int64_t period, DecoderConfig& config) {
  if (!model.has("attention.sliding_window")) return {};
  const int64_t window = TRY(model.size("attention.sliding_window"));
  const std::string pattern = TRY(model.text("attention.window_pattern", ""));
  if (!pattern.empty() && pattern.size() != static_cast<size_t>(config.layers))
    return fail(Code::bad_input, "hyperparameter 'attention.window_pattern'", "it has another number of layers")
        .expected(std::to_string(config.layers))
        .found(std::to_string(pattern.size()));
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    const bool has_window = pattern.empty() ? layer % period == 0 : pattern[static_cast<size_t>(layer)] == 's';
    config.windows.push_back(has_window ? window : 0);
  }
  return {};
}

Result<DecoderConfig> decoder_config(const Family& family, const Hyperparameters& model, int64_t capacity) {
  DecoderConfig config;
  TRY(fill_sizes(family, model, config));
  TRY(fill_rotation(model, config));
  TRY(scale_rotation(model, capacity, config));
  config.activation = TRY(activation_of(model, family.activation));
  config.epsilon = TRY(model.number("attention.layer_norm_rms_epsilon", TRY(model.number("attention.layer_norm_epsilon", 1e-5))));
  if (config.epsilon < 0)
    return fail(Code::bad_input, "hyperparameter 'attention.layer_norm_epsilon'", "norms cannot be computed with it")
        .expected("a number of 0 or more")
        .found(fmt::format("{}", config.epsilon));
  TRY(family.configure(model, config));
  return config;
}

}  // namespace tenon::nn
