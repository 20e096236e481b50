// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/translated_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace tenon::nn {
namespace {

using nlohmann::json;

/// Keys of config.json, and the keys of GGUF for the same hyperparameters.
constexpr std::pair<const char*, const char*> kKeys[] = {
    {"num_hidden_layers", "block_count"},
    {"n_layer", "block_count"},
    {"hidden_size", "embedding_length"},
    {"n_embed", "embedding_length"},
    {"n_embd", "embedding_length"},
    {"max_position_embeddings", "context_length"},
    {"n_positions", "context_length"},
    {"seq_length", "context_length"},
    {"intermediate_size", "feed_forward_length"},
    {"ffn_hidden_size", "feed_forward_length"},
    {"n_inner", "feed_forward_length"},
    {"num_attention_heads", "attention.head_count"},
    {"n_head", "attention.head_count"},
    {"num_key_value_heads", "attention.head_count_kv"},
    {"num_kv_heads", "attention.head_count_kv"},
    {"head_dim", "attention.key_length"},
    {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
    {"norm_epsilon", "attention.layer_norm_epsilon"},
    {"layer_norm_eps", "attention.layer_norm_epsilon"},
    {"layer_norm_epsilon", "attention.layer_norm_epsilon"},
    {"rope_theta", "rope.freq_base"},
    {"rotary_emb_base", "rope.freq_base"},
    {"rotary_dim", "rope.dimension_count"},
    {"rotary_pct", "rope.share"},
    {"partial_rotary_factor", "rope.share"},
    {"rope_local_base_freq", "rope.freq_base_swa"},
    {"sliding_window", "attention.sliding_window"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"embedding_multiplier", "embedding_scale"},
    {"residual_multiplier", "residual_scale"},
    {"attention_multiplier", "attention.scale"},
    {"logits_scaling", "logit_scale"},
    {"hidden_act", "activation"},
    {"hidden_activation", "activation"},
    {"activation_function", "activation"},
    {"activation", "activation"},
    {"use_parallel_residual", "use_parallel_residual"},
    {"multi_query", "multi_query"},
    {"new_decoder_architecture", "new_decoder_architecture"},
    {"parallel_attn", "use_parallel_residual"},
    {"alibi", "alibi"},
};

/// The same for keys of the objects rope_parameters and rope_scaling, which describe how the rotation is scaled.
constexpr std::pair<const char*, const char*> kScalingKeys[] = {
    {"rope_theta", "rope.freq_base"},
    {"partial_rotary_factor", "rope.share"},
    {"factor", "rope.scaling.factor"},
    {"low_freq_factor", "rope.scaling.low_freq_factor"},
    {"high_freq_factor", "rope.scaling.high_freq_factor"},
    {"original_max_position_embeddings", "rope.scaling.original_context_length"},
    {"beta_fast", "rope.scaling.yarn_beta_fast"},
    {"beta_slow", "rope.scaling.yarn_beta_slow"},
    {"truncate", "rope.scaling.truncate"},
    {"attention_factor", "rope.scaling.magnitude"},
    {"long_factor", "rope.factors_long"},
    {"short_factor", "rope.factors_short"},
};

std::optional<Hyperparameters::Value> value_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty() && std::ranges::all_of(value, [](const json& v) { return v.is_number(); }))
    return value.get<std::vector<double>>();
  return std::nullopt;
}

void set_keys(const json& config, std::span<const std::pair<const char*, const char*>> keys, Hyperparameters& to) {
  for (const auto& [config_key, gguf_key] : keys)
    if (config.contains(config_key))
      if (auto value = value_of(config[config_key])) to.set(gguf_key, std::move(*value));
}

void set_common_keys(const json& config, Hyperparameters& to) {
  set_keys(config, kKeys, to);
  for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"})  // null: there is none
    if (config.contains(cap) && config[cap].is_null()) to.set(cap, 0.0);
}

/// Sets the keys of the rotation. Transformers 5 has an object rope_parameters, or one in it for each type of layer; older versions have
/// rope_theta and rope_scaling.
Result<void> set_rotation(const json& config, Hyperparameters& to) {
  to.set("rope.layout", "half_split");
  set_keys(config, std::array{std::pair{"original_max_position_embeddings", "rope.scaling.original_context_length"}}, to);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!config.contains(name) || !config[name].is_object()) continue;
    const json& all = config[name];
    const json& rope = all.contains("full_attention") ? all["full_attention"] : all;
    if (!rope.is_object()) continue;
    set_keys(rope, kScalingKeys, to);
    for (const char* type : {"type", "rope_type"})
      if (rope.contains(type) && rope[type].is_string() && rope[type] != "default")
        to.set("rope.scaling.type", rope[type].get<std::string>());
    if (all.contains("sliding_attention"))
      set_keys(all["sliding_attention"], std::array{std::pair{"rope_theta", "rope.freq_base_swa"}}, to);
  }
  const double rotated_share = TRY(to.number("rope.share", 1));
  if (rotated_share == 1) return {};
  const int64_t heads = TRY(to.size("attention.head_count"));
  const int64_t size = TRY(to.size("attention.key_length", TRY(to.size("embedding_length")) / heads));
  to.set("rope.dimension_count", static_cast<int64_t>(static_cast<double>(size) * rotated_share));
  return {};
}

/// Sets attention.window_pattern, a letter for each layer: s with a window, f without.
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
  set_common_keys(config, out);
  TRY(set_rotation(config, out));
  TRY(set_windows(config, place, out));
  if (config.contains("query_pre_attn_scalar") && config["query_pre_attn_scalar"].is_number())
    out.set("attention.scale", 1 / std::sqrt(config["query_pre_attn_scalar"].get<double>()));
  return out;
}

}  // namespace tenon::nn
