// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "passes/packing/row_op.h"

namespace tenon::passes {

/// An Attention over padded keys and values whose mask hides keys, the same for all queries.
struct MaskedAttention {
  ir::NodeId node;
  ir::ValueId mask;                   ///< [sequences, 1, 1, length]: hides keys
  Padded padded;                      ///< of the keys
  ir::ValueId key, value;             ///< [sequences, length, heads, size]
  ir::ValueId query;                  ///< [sequences, queries, heads, size]
  bool all_rows_are_queries = false;  ///< `queries` is the length: the queries are padded as the keys are
  std::vector<ir::ValueId> rows;      ///< its result transposed, as all users read it: [sequences, queries, heads, size]
};

/// nullopt for other nodes.
std::optional<MaskedAttention> masked_attention(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
