// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "passes/packing/masked_attention.h"

namespace tenon::passes {

/// Which rows are needed of what a graph computes. Hidden rows are those that the mask hides from every query: where no node reads them
/// either, they need not be computed.
struct Needs {
  ir::ValueId mask;
  Padded padded;
  std::unordered_map<ir::NodeId, MaskedAttention> attentions;  ///< under the mask, that can do without hidden rows
  std::unordered_map<ir::NodeId, std::vector<Part>> row_ops;   ///< that can do without
  std::unordered_map<ir::NodeId, ir::ValueId> weighted;        ///< of those, products by weights of the rows: all rows of them are read
  std::unordered_map<ir::NodeId, ir::Ints> picks;              ///< Gathers of some places of each sequence from such rows
  bool pays() const;                                           ///< some attention reads packed rows alone
};

/// runs: whether an Attention runs without padding. Cost: linear in the nodes.
Needs needs_of(const ir::Graph& graph, const std::function<bool(const ir::NodeView&)>& runs);

}  // namespace tenon::passes
