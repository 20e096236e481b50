// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "passes/packing/row_op.h"

namespace tenon::passes {

/// Attention whose mask says of each key alone whether it is seen, over keys and values that are rows.
struct MaskedAttention {
  ir::NodeId node;
  ir::ValueId mask;                   ///< [sequences, 1, 1, length]
  Padded padded;                      ///< of the keys
  ir::ValueId key, value;             ///< rows of heads
  ir::ValueId query;                  ///< the same where each place is a query; else [sequences, queries, heads, size]
  bool all_rows_are_queries = false;  ///< each place is a query
  std::vector<ir::ValueId> rows;      ///< what its result is read as: [sequences, queries, heads, size]
};

/// nullopt for other nodes.
std::optional<MaskedAttention> masked_attention(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
