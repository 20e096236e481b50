// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "ir/constant.h"
#include "nn/decoder/config.h"
#include "nn/hyperparameters.h"

namespace tenon::nn {

/// The name of a weight in a Hugging Face folder (theirs) and in GGUF (ours), without ".weight" and ".bias"; * is the number of a layer.
struct WeightName {
  std::string_view theirs, ours;
};

/// A family of decoders that differ in their hyperparameters only. FAMILY(name) { ... } in src/nn/families/name.cpp is found by the build.
struct Family {
  std::string_view name;                               ///< general.architecture of GGUF
  std::span<const std::string_view> model_types = {};  ///< model_type of config.json
  std::span<const WeightName> weights = {};            ///< in addition to kDecoderWeights; these override them
  /// Brings the rows of a weight of a folder of Hugging Face, by our name, to GGUF's order. Null: nothing.
  Result<ir::ConstantRef> (*to_gguf_layout)(const std::string& name, ir::ConstantRef weight, const Hyperparameters& model) = nullptr;
  bool inputs_first = false;  ///< folders store matrices of layers as [inputs, outputs]
  /// GGUF stores the rows of q and k in another order, so that rows whose elements are rotated together are neighbors (stored_rotation).
  bool neighbors_in_gguf = false;
  float norm_offset = 0;                     ///< to add to weights of normalizations from a Hugging Face folder (1 for Gemma)
  Activation activation = Activation::silu;  ///< default where the model names none
  int64_t inner_factor = 0;  ///< width of the feed-forward part, in widths of the embedding, where the model names none; 0: it must
  int64_t context = 0;       ///< tokens of a context, where the model names none and its positions have no end; 0: it must name them
  /// Sets the rotation and other fields that are specific to the family, after the common fields.
  Result<void> (*configure)(const Hyperparameters& model, DecoderConfig& config);
};

std::span<const Family* const> families();
/// Errors: not_supported, with the nearest name, where no family has that architecture, or that model type.
Result<const Family*> family_of(std::string_view architecture);
Result<const Family*> family_of_model_type(std::string_view model_type);

/// The network of a model. capacity: tokens that its cache has room for; 0: those of its context.
/// Errors: bad_input where a hyperparameter is missing or cannot be; limit_exceeded (layers); not_supported.
Result<DecoderConfig> decoder_config(const Family& family, const Hyperparameters& model, int64_t capacity = 0);

/// The pairs that a checkpoint of LLaMA's kind stores side by side in GGUF, and half a head apart in a folder of Hugging Face.
Result<Rotation> stored_rotation(const Hyperparameters& model);

/// Rows of a joined projection of q, k and v that are stored head by head, in GGUF's order: rows of all q, of all k, of all v. A group has
/// the rows of `queries` heads of q, then those of one head of k and of one of v. Errors: bad_input (rows that are no whole groups).
Result<ir::ConstantRef> ungrouped_rows(ir::ConstantRef weight, int64_t groups, int64_t queries, const std::string& name);

/// A window of `attention.sliding_window` keys in the layers for which `attention.window_pattern` (a letter a layer: s, else f) has an s;
/// without a pattern in every `period`th layer from the first on.
Result<void> add_windows(const Hyperparameters& model, int64_t period, DecoderConfig& config);

}  // namespace tenon::nn

#define FAMILY(IDENT)                              \
  extern const ::tenon::nn::Family family_##IDENT; \
  constinit const ::tenon::nn::Family family_##IDENT
