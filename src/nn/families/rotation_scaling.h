// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "nn/decoder/config.h"
#include "nn/hyperparameters.h"

namespace tenon::nn {

/// Sets the fields of `config` for a rotation that is scaled to a longer context (rope.scaling.*): linear, llama3, yarn, longrope,
/// dynamic, or factors that a GGUF file stores for each pair. capacity: tokens that the cache has room for; longrope has one set of factors
/// for capacities up to the context of the original training, another beyond it. Errors: bad_input; not_supported (others).
Result<void> scale_rotation(const Hyperparameters& model, int64_t capacity, DecoderConfig& config);

}  // namespace tenon::nn
