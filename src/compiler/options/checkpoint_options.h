// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/precision.h"
#include "compiler/options/build_config.h"
#include "nn/adapters/adapter.h"
#include "nn/checkpoint/stored_weights.h"
#include "nn/decoder/cache_type.h"

namespace tenon::compiler {

/// Options for building a checkpoint of a language model, beside those for every model.
struct CheckpointOptions {
  int64_t context = 0;                 ///< capacity of the states in tokens; 0: the context length of the model
  std::vector<std::string> lora = {};  ///< adapters that are merged, FILE or FILE=SCALE
  nn::StoredWeights weights = nn::StoredWeights::keep;
  nn::CacheType kv = nn::CacheType::f32;
  codegen::Activations activations = codegen::Activations::f32;  ///< of cached_engine; other builds have it in CompileOptions
  int64_t batch = 1;                                             ///< sequences; 0: as many as the first run of a context has
  int64_t window = 0, sinks = 0;                                 ///< see nn::DecoderOptions
  BuildConfig config = {};
  std::vector<std::string> states =
      {};  ///< of an ONNX decoder: pairs of input and output that cannot be found by name, see import::pair_states

  /// The command-line flag of some option that differs from its default; empty: none does.
  std::string_view flag() const;
  /// Errors: bad_usage (numbers out of range, sinks without a window).
  Result<void> check_numbers() const;
  /// The parsed form of `lora`. Errors: bad_usage (a scale that is no finite number).
  Result<std::vector<nn::AdapterFile>> adapters() const;
};

/// The enumerator of that name, which must be a choice of the option `weights` ("int8"; asserted).
nn::StoredWeights stored_weights_named(std::string_view name);
std::string name_of(nn::StoredWeights weights);
/// The same of the option `kv`.
nn::CacheType cache_type_named(std::string_view name);
std::string name_of(nn::CacheType type);
/// The same of the option `activations`.
codegen::Activations activations_named(std::string_view name);

}  // namespace tenon::compiler
