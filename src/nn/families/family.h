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

/// The name of a weight in a Hugging Face folder and in GGUF, without ".weight" and ".bias"; * is the number of a layer.
struct WeightName {
  std::string_view folder, gguf;
};

/// A family of decoders that differ in their hyperparameters only. FAMILY(name) { ... } in src/nn/families/name.cpp is found by the build.
struct Family {
  std::string_view name;                               ///< general.architecture of GGUF
  std::span<const std::string_view> model_types = {};  ///< model_type of config.json
  std::span<const WeightName> weights = {};            ///< in addition to kDecoderWeights; these override them
  /// Brings the rows of a weight of a Hugging Face folder to GGUF's order. name: in GGUF. Null: both have the same order.
  Result<ir::ConstantRef> (*to_gguf_layout)(const std::string& name, ir::ConstantRef weight, const Hyperparameters& model) = nullptr;
  bool stores_inputs_first = false;  ///< folders store matrices of layers as [inputs, outputs]
  /// GGUF stores the rows of q and k in another order, so that rows whose elements are rotated together are neighbors (stored_rotation).
  bool pairs_rows_in_gguf = false;
  float norm_offset = 0;                     ///< to add to weights of normalizations from a Hugging Face folder (1 for Gemma)
  Activation activation = Activation::silu;  ///< default, where the model names none
  int64_t default_inner_factor = 0;  ///< default width of the feed-forward part, in widths of the embedding; 0: the model must name it
  int64_t context = 0;               ///< default tokens of the context, of a family without a limit of positions; 0: the model must name it
  /// Sets the rotation and other fields that are specific to the family, after the common fields.
  Result<void> (*configure)(const Hyperparameters& model, DecoderConfig& config);
};

/// All families.
std::span<const Family* const> families();
/// The family of a general.architecture of GGUF, or of a model_type of config.json. Errors: not_supported, with the nearest name.
Result<const Family*> family_of(std::string_view architecture);
Result<const Family*> family_of_model_type(std::string_view model_type);

/// The network of a model. capacity: tokens that its cache has room for; 0: those of its context.
/// Errors: bad_input where a hyperparameter is missing or cannot be; limit_exceeded (layers); not_supported.
Result<DecoderConfig> decoder_config(const Family& family, const Hyperparameters& model, int64_t capacity = 0);

/// The rotation of a family with pairs_rows_in_gguf: interleaved for weights from GGUF, half_split from a Hugging Face folder.
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
