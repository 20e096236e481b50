// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/translated_config.h"

#include <cmath>

namespace tenon::nn {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, const char*> kKeys[] = {
    {"num_hidden_layers", "block_count"},
    {"hidden_size", "embedding_length"},
    {"max_position_embeddings", "context_length"},
    {"intermediate_size", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"norm_epsilon", "attention.layer_norm_epsilon"},
    {"layer_norm_eps", "attention.layer_norm_epsilon"},
    {"rope_theta", "rope.freq_base"},
    {"sliding_window", "attention.sliding_window"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"embedding_multiplier", "embedding_scale"},
    {"residual_multiplier", "residual_scale"},
    {"attention_multiplier", "attention.scale"},
    {"logits_scaling", "logit_scale"},
    {"hidden_act", "activation"},
    {"hidden_activation", "activation"},
};

std::optional<Hyperparameters::Value> value_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return std::nullopt;
}

void set_all(const json& from, Hyperparameters& to) {
  for (const auto& [theirs, ours] : kKeys)
    if (from.contains(theirs))
      if (auto value = value_of(from[theirs])) to.set(ours, std::move(*value));
  for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"})  // null: there is none
    if (from.contains(cap) && from[cap].is_null()) to.set(cap, 0.0);
}

/// Transformers 5 has one object, older versions rope_theta and rope_scaling.
Result<void> set_rotation(const json& config, Hyperparameters& to) {
  to.set("rope.layout", "half_split");
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!config.contains(name) || !config[name].is_object()) continue;
    const json& rope = config[name];
    set_all(rope, to);
    for (const char* type : {"type", "rope_type"})
      if (rope.contains(type) && rope[type].is_string() && rope[type] != "default")
        to.set("rope.scaling.type", rope[type].get<std::string>());
    if (rope.contains("factor"))
      if (auto factor = value_of(rope["factor"])) to.set("rope.scaling.factor", std::move(*factor));
    if (rope.contains("partial_rotary_factor"))
      if (auto share = value_of(rope["partial_rotary_factor"])) to.set("rope.share", std::move(*share));
  }
  if (config.contains("partial_rotary_factor"))
    if (auto share = value_of(config["partial_rotary_factor"])) to.set("rope.share", std::move(*share));
  const double share = TRY(to.number("rope.share", 1));
  if (share == 1) return {};
  const int64_t heads = TRY(to.size("attention.head_count"));
  const int64_t size = TRY(to.size("attention.key_length", TRY(to.size("embedding_length")) / heads));
  to.set("rope.dimension_count", static_cast<int64_t>(static_cast<double>(size) * share));
  return {};
}

/// A letter a layer: s for one with a window.
Result<void> set_windows(const json& config, const std::string& place, Hyperparameters& to) {
  if (!config.contains("layer_types") || !config["layer_types"].is_array()) return {};
  std::string pattern;
  for (const json& type : config["layer_types"]) {
    if (type != "full_attention" && type != "sliding_attention")
      return fail(Code::not_supported, place, "not supported yet: layers of the type " + type.dump())
          .expected("full_attention or sliding_attention");
    pattern += type == "sliding_attention" ? 's' : 'f';
  }
  to.set("attention.window_pattern", pattern);
  return {};
}

}  // namespace

Result<Hyperparameters> translated_config(const json& config, const std::string& place) {
  if (!config.is_object()) return fail(Code::bad_input, place, "the configuration is no JSON object");
  Hyperparameters out;
  set_all(config, out);
  TRY(set_rotation(config, out));
  TRY(set_windows(config, place, out));
  if (config.contains("query_pre_attn_scalar") && config["query_pre_attn_scalar"].is_number())
    out.set("attention.scale", 1 / std::sqrt(config["query_pre_attn_scalar"].get<double>()));
  return out;
}

}  // namespace tenon::nn
