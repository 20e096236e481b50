// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include "nn/decoder/config.h"
#include "nn/hyperparameters.h"

namespace tenon::nn {

/// Models that differ in their numbers alone. FAMILY(name) { ... } in src/nn/families/name.cpp is found by the build.
struct Family {
  std::string_view name;  ///< general.architecture of GGUF
  /// Of the rotation, and of whatever else this family fixes; sizes are filled in already.
  Result<void> (*configure)(const Hyperparameters& model, DecoderConfig& config);
};

std::span<const Family* const> families();
/// Errors: not_supported, with the nearest name, where no family has that architecture.
Result<const Family*> family_of(std::string_view architecture);

/// The network of a model. Errors: those of family_of; bad_input where a hyperparameter is missing or cannot be.
Result<DecoderConfig> decoder_config(std::string_view architecture, const Hyperparameters& model);

}  // namespace tenon::nn

#define FAMILY(IDENT)                              \
  extern const ::tenon::nn::Family family_##IDENT; \
  constinit const ::tenon::nn::Family family_##IDENT
