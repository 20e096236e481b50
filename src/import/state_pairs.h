// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::import {

/// A state: an input (past), and the output (present) that replaces it in the next run.
struct StatePair {
  std::string text;  ///< as the user gave it, for errors
  std::string past, present;
  std::optional<int64_t> capacity = {};
};

/// Expands pairs with patterns (see pair_states) to pairs of names of a model. Errors: bad_usage (no such form), bad_input (no such
/// input, nearest name). Cost: pairs x inputs.
Result<std::vector<StatePair>> named_pairs(const std::vector<std::string>& pairs, const std::vector<std::string>& inputs,
                                           const std::vector<std::string>& outputs);

/// Makes states of inputs and outputs of a graph. A pair is "PAST=PRESENT" or "PAST=PRESENT:CAPACITY": names of an input and of the output
/// that replaces it; each * in PAST matches any text, which replaces the * at the same position in PRESENT. A state has the name of its
/// input. An axis grows where the output has more rows than the input, whose size there is a symbol; its capacity is the number, or the
/// upper bound of the symbol. An input's default becomes the state's initial value.
/// Errors: bad_usage (no such form, no capacity), bad_input (no such input or output, nearest name; an input or output of two states;
/// types that do not fit). Cost: pairs x inputs.
Result<void> pair_states(ir::Graph& graph, const std::vector<std::string>& pairs);
/// The same for pairs of names without patterns.
Result<void> pair_states(ir::Graph& graph, const std::vector<StatePair>& pairs);

}  // namespace tenon::import
