// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace tenon::passes {

/// The sizes of padded sequences. A value "has rows" where these are its first two sizes: a row is the part at one position of one
/// sequence.
struct Padded {
  Dim sequences, length;
  /// Whether a value of this type has rows, whose sizes are numbers.
  bool has_rows(const ir::Type& type) const;
};

/// Which part of an operand a row of an op's result depends on. whole: all of it; row: the same row; position: its slice at the row's
/// position, the same for all sequences; sequence: its slice for the row's sequence, the same for all positions.
enum class Part : uint8_t { whole, row, position, sequence };

/// By operand: the part that a row of the results depends on. nullopt where a row of the results depends on several rows. At least one part
/// is `row`.
std::optional<std::vector<Part>> operand_parts(const ir::Graph& graph, ir::NodeId node, const Padded& padded);

/// Inserts the op over packed rows: one axis of rows in place of the first two axes. operands: PackedRows::part of each.
std::vector<ir::ValueId> on_packed_rows(ir::Builder& build, ir::NodeId node, std::vector<ir::ValueId> operands);

}  // namespace tenon::passes
