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

/// The meaning of an input of a decoder that is neither tokens nor cache. Its value follows from the number of new tokens and of tokens in
/// the cache. mask: attention mask; last_place: index of the last token; kept_logits: for how many tokens logits are computed.
enum class InputRole : uint8_t { mask, positions, total_length, last_place, past_length, cached_branch, kept_logits };

/// The role of an input of that name (attention_mask, position_ids, ...); nullopt: none is known. Names of optimum, of transformers'
/// exporters and of onnxruntime-genai.
std::optional<InputRole> role_named(std::string_view input);

/// An input of the cache, the output that replaces it, and the axis along which it grows.
struct CachePair {
  StatePair names;
  uint32_t axis = 0;  ///< of the past input, along which a run appends rows
};

/// The inputs and outputs of an exported decoder by their purpose.
struct DecoderPorts {
  std::string tokens;                       ///< the input with token ids (input_ids)
  std::vector<CachePair> caches;            ///< at least one
  std::map<std::string, InputRole> filled;  ///< inputs that fill_inputs() replaces by computed values
  /// Shapes to request at import: one sequence, and one symbol for the lengths of all pasts, which may have different names in the model.
  std::vector<RequestedShape> shapes;
};

/// The parsed values of `--state` for a decoder: "auto" or "auto:CAPACITY", and pairs.
struct DecoderStates {
  std::optional<int64_t> capacity;  ///< the capacity of pairs that give none
  std::vector<std::string> pairs;   ///< see pair_states
};
/// Parses the values of `--state`; nullopt where none is "auto". Errors: bad_usage (an invalid capacity).
Result<std::optional<DecoderStates>> decoder_states(const std::vector<std::string>& states);

/// Finds the ports of a model by their names. A past is an input of a pair, or one whose name begins with "past"; its present has the same
/// name with "present" or "present_key_values" for "past_key_values", or "present" for "past". Errors: bad_input (no tokens, no past, a
/// past without a present, an input without a role, nearest names), not_supported (sizes that are fixed), bad_usage (no capacity; pairs).
Result<DecoderPorts> decoder_ports(const OnnxGraph& graph, const DecoderStates& states, std::string_view file);

}  // namespace tenon::import
