// SPDX-License-Identifier: Apache-2.0
#include "nn/families/family.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

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

Result<const Family*> family_of(std::string_view architecture) {
  std::vector<std::string> names;
  for (const Family* family : families()) {
    if (family->name == architecture) return family;
    names.emplace_back(family->name);
  }
  return fail(Code::not_supported, "general.architecture", fmt::format("not supported yet: models of the architecture '{}'", architecture))
      .expected(fmt::format("one of: {}", fmt::join(names, ", ")))
      .found(std::string(architecture))
      .advice(did_you_mean(architecture, names));
}

namespace {

Result<void> fill_sizes(const Hyperparameters& model, DecoderConfig& c) {
  c.layers = TRY(model.size("block_count"));
  c.width = TRY(model.size("embedding_length"));
  c.context = TRY(model.size("context_length"));
  c.inner_width = TRY(model.size("feed_forward_length"));
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
  const std::string scaling = TRY(model.word("rope.scaling.type", "none"));
  if (scaling == "linear") c.rotation_factor = TRY(model.number("rope.scaling.factor", 1));
  else if (scaling != "none")
    return fail(Code::not_supported, "hyperparameter 'rope.scaling.type'",
                fmt::format("not supported yet: scaling '{}' of positions", scaling))
        .expected("none or linear");
  return {};
}

}  // namespace

Result<DecoderConfig> decoder_config(std::string_view architecture, const Hyperparameters& model) {
  const Family* const family = TRY(family_of(architecture));
  DecoderConfig config;
  TRY(fill_sizes(model, config));
  TRY(fill_rotation(model, config));
  TRY(family->configure(model, config));
  return config;
}

}  // namespace tenon::nn
