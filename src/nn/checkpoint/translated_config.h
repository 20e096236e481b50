// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "nn/hyperparameters.h"

namespace tenon::nn {

/// The hyperparameters of config.json under GGUF's keys. Errors: bad_input, not_supported.
Result<Hyperparameters> translated_config(const nlohmann::json& config, const std::string& place);

}  // namespace tenon::nn
