// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx_model.h"
#include "import/onnx_types.h"
#include "import/state_pairs.h"

namespace tenon::import {

/// What an input of a decoder has beside tokens and cache: a value that follows from the number of new tokens and of those in the cache.
enum class InputRole : uint8_t { mask, positions, total_length, last_place, past_length, cached_branch, kept_logits };

/// The role of an input of that name (attention_mask, position_ids, ...); nullopt: none is known. Names of optimum, of transformers'
/// exporters and of onnxruntime-genai.
std::optional<InputRole> role_named(std::string_view input);

/// An input of the cache, and how it grows.
struct CachePair {
  StatePair names;
  uint32_t axis = 0;  ///< of the past, along which a run appends
};

/// The inputs and outputs of an exported decoder by what they are for.
struct DecoderPorts {
  std::string tokens;             ///< input_ids
  std::vector<CachePair> caches;  ///< at least one
  std::map<std::string, InputRole> filled;
  /// One sequence, and one symbol for the length of all pasts, whatever the model calls them.
  std::vector<RequestedShape> shapes;
};

/// What `--state` says of a decoder: "auto" or "auto:CAPACITY", and pairs.
struct DecoderStates {
  std::optional<int64_t> capacity;  ///< of pairs without one
  std::vector<std::string> pairs;   ///< see pair_states
};
/// nullopt where there is no "auto". Errors: bad_usage (a capacity that is none).
Result<std::optional<DecoderStates>> decoder_states(const std::vector<std::string>& states);

/// Finds the ports of a model by their names. A past is an input of a pair, or one whose name begins with "past"; its present has the same
/// name with "present" or "present_key_values" for "past_key_values", or "present" for "past". Errors: bad_input (no tokens, no past, a
/// past without a present, an input without a role, nearest names), not_supported (sizes that are fixed), bad_usage (no capacity; pairs).
Result<DecoderPorts> decoder_ports(const OnnxGraph& graph, const DecoderStates& states, std::string_view file);

}  // namespace tenon::import
