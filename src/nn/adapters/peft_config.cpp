// SPDX-License-Identifier: Apache-2.0
// Source: peft/tuners/lora/config.py and peft/utils/other.py (get_pattern_key).
#include "nn/adapters/peft_config.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

namespace tenon::nn {
namespace {

using nlohmann::json;

Error unsupported_adapter(const std::string& place, const std::string& what) {
  return fail(Code::not_supported, place, "not supported yet: " + what).expected("an adapter of the kind LORA that adds B * A to weights");
}

bool is_set(const json& config, const char* key) {
  if (!config.contains(key)) return false;
  const json& value = config[key];
  return !(value.is_null() || value == false || ((value.is_array() || value.is_object()) && value.empty()));
}

/// False for initializations of an adapter that change the checkpoint's own weights too (pissa, olora, corda, loftq, lora_ga).
bool keeps_base_weights(const json& init) {
  constexpr std::array<std::string_view, 3> kNames{"gaussian", "eva", "orthogonal"};
  return !init.is_string() || std::ranges::find(kNames, init.get<std::string>()) != kNames.end();
}

Result<void> check_kind_of_lora(const json& config, const std::string& place) {
  const json kind = config.value("peft_type", json());
  if (kind != "LORA") return unsupported_adapter(place, "adapters of the kind " + kind.dump());
  const std::pair<const char*, const char*> options[] = {{"lora_bias", "biases of B (lora_bias)"},
                                                         {"use_qalora", "QALoRA (use_qalora)"},
                                                         {"alora_invocation_tokens", "adapters that tokens invoke (aLoRA)"},
                                                         {"layer_replication", "layers that appear twice (layer_replication)"},
                                                         {"trainable_token_indices", "rows of embeddings (trainable_token_indices)"},
                                                         {"target_parameters", "parameters of no linear layer (target_parameters)"}};
  for (const auto& [key, what] : options)
    if (is_set(config, key)) return unsupported_adapter(place, what);
  if (config.contains("init_lora_weights") && !keeps_base_weights(config["init_lora_weights"]))
    return unsupported_adapter(
        place, "adapters that change the checkpoint's own weights (init_lora_weights " + config["init_lora_weights"].dump() + ")");
  return {};
}

/// The keys are regular expressions in PEFT; those that are names are read. A key that begins with "^" must be the whole name of a module;
/// others its end.
Result<std::vector<std::pair<std::string, double>>> read_alpha_pattern(const json& config, const std::string& place) {
  std::vector<std::pair<std::string, double>> out;
  if (!is_set(config, "alpha_pattern")) return out;
  const json& pattern = config["alpha_pattern"];
  if (!pattern.is_object()) return fail(Code::bad_file, place, "alpha_pattern is no object").found(pattern.dump());
  for (const auto& [key, value] : pattern.items()) {
    if (!value.is_number()) return fail(Code::bad_file, place, "alpha_pattern has no number").found(key + ": " + value.dump());
    const std::string_view name = std::string_view(key).substr(key.starts_with('^') ? 1 : 0);
    const bool is_name =
        std::ranges::all_of(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; });
    if (!is_name || name.empty()) return unsupported_adapter(place, "regular expressions in alpha_pattern ('" + key + "')");
    out.emplace_back(key, value.get<double>());
  }
  return out;
}

bool matches_module(std::string_view key, std::string_view module) {
  if (key.starts_with('^')) return key.substr(1) == module;
  return key == module || (module.ends_with(key) && module[module.size() - key.size() - 1] == '.');
}

}  // namespace

double PeftConfig::factor(std::string_view module, int64_t rank) const {
  const auto override_entry = std::ranges::find_if(alpha_overrides, [&](const auto& entry) { return matches_module(entry.first, module); });
  const double r = static_cast<double>(rank);
  return (override_entry == alpha_overrides.end() ? alpha : override_entry->second) / (rank_stabilized ? std::sqrt(r) : r);
}

Result<PeftConfig> read_peft_config(const std::filesystem::path& file) {
  const std::string place = file.string();
  std::ifstream stream(file);
  if (!stream)
    return fail(Code::file_missing, place, "the adapter has no configuration")
        .expected("adapter_config.json beside its weights, as PEFT writes it")
        .found("no such file");
  const json config = json::parse(stream, nullptr, false);
  if (!config.is_object()) return fail(Code::bad_file, place, "the file is no JSON object");
  TRY(check_kind_of_lora(config, place));
  if (!config.contains("lora_alpha") || !config["lora_alpha"].is_number())
    return fail(Code::bad_file, place, "the configuration has no scale").expected("lora_alpha, a number");
  return PeftConfig{config["lora_alpha"].get<double>(), is_set(config, "use_rslora"), is_set(config, "use_dora"),
                    TRY(read_alpha_pattern(config, place))};
}

}  // namespace tenon::nn
