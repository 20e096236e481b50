// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tenon::nn {

/// The fields of a PEFT adapter's adapter_config.json that determine scale factors. Ranks come from the shapes of the matrices instead.
struct PeftConfig {
  double alpha = 0;                                                  ///< lora_alpha
  bool rank_stabilized = false;                                      ///< use_rslora
  bool has_magnitudes = false;                                       ///< use_dora
  std::vector<std::pair<std::string, double>> alpha_overrides = {};  ///< alpha_pattern: alpha by the end of a module's name

  /// alpha / rank, or alpha / sqrt(rank). module: "model.layers.0.self_attn.q_proj".
  double factor(std::string_view module, int64_t rank) const;
};

/// Errors: file_missing, bad_file, not_supported (kinds and options of adapters that do more than add B * A).
Result<PeftConfig> read_peft_config(const std::filesystem::path& file);

}  // namespace tenon::nn
