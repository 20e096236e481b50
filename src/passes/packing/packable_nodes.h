// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "passes/packing/masked_attention.h"

namespace tenon::passes {

/// The result of the analysis of pack_rows: which nodes can compute packed rows alone. Hidden rows are those that the mask hides from every
/// query; they need not be computed where no node reads them.
struct PackableNodes {
  ir::ValueId mask;                                            ///< of all `attentions`
  Padded padded;                                               ///< its sizes
  std::unordered_map<ir::NodeId, MaskedAttention> attentions;  ///< attentions under the mask that do not need hidden rows
  std::unordered_map<ir::NodeId, std::vector<Part>> row_ops;   ///< nodes that need not compute hidden rows, and their operand_parts()
  std::unordered_map<ir::NodeId, ir::ValueId> weighted;  ///< of those, Muls by a weight for each row, with the weights: all rows of the
                                                         ///< result are read, and weights other than 0 keep their rows
  std::unordered_map<ir::NodeId, ir::Ints>
      row_gathers;             ///< Gathers of constant positions of each sequence from such rows, with the positions
  bool is_profitable() const;  ///< some attention's queries are packed
};

/// The analysis. runs: passes::Options::packs. Cost: linear in the nodes.
PackableNodes find_packable_nodes(const ir::Graph& graph, const std::function<bool(const ir::NodeView&)>& runs);

}  // namespace tenon::passes
