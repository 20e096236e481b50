// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace tenon::passes {

/// The sizes of padded sequences. A value has rows where they are its first two sizes.
struct Padded {
  Dim sequences, length;
  /// With rows of known sizes.
  bool has_rows(const ir::Type& type) const;
};

/// What a row of an op's result needs of an operand: all of it, the row of the same place, what is at the place in every sequence, or
/// what is in every place of the sequence.
enum class Part : uint8_t { whole, row, of_place, of_sequence };

/// Of an op that makes each row of its results from one row of its operands: the parts that those need; nullopt for other ops. At least one
/// operand has rows.
std::optional<std::vector<Part>> parts_of_row(const ir::Graph& graph, ir::NodeId node, const Padded& padded);

/// The op on concatenated rows, over one axis in place of the first two. Operands: in their parts, likewise.
std::vector<ir::ValueId> on_packed_rows(ir::Builder& build, ir::NodeId node, std::vector<ir::ValueId> operands);

}  // namespace tenon::passes
