// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>
#include <vector>

#include "passes/packing/row_op.h"

namespace tenon::passes {

/// Inserts the nodes that pack and unpack the rows of padded sequences that are computed.
class PackedRows {
 public:
  /// keep: bool[sequences, length]: which rows are computed.
  PackedRows(ir::Builder& build, ir::ValueId keep);

  /// The part of a value on which each packed row depends: one for each packed row; the value itself for Part::whole. rank: of the result.
  ir::ValueId part(ir::ValueId value, Part part, int rank);
  /// Packed rows as a padded value, with zeros in the rows that are not computed.
  ir::ValueId unpacked(ir::ValueId packed);
  /// i64[sequences, length]: the index of each row among the packed ones.
  ir::ValueId packed_indices() const { return packed_indices_; }
  /// i64[sequences + 1]: where the packed rows of each sequence start, and their number.
  ir::ValueId starts() const { return starts_; }
  /// i64[]: the padded length of a sequence.
  ir::ValueId length();

 private:
  ir::ValueId size_of(ir::ValueId value, int64_t axis);
  ir::ValueId rows_of(ir::ValueId value);
  ir::ValueId gather_by_position(ir::ValueId value, int rank);
  ir::ValueId gather_by_sequence(ir::ValueId value);
  ir::ValueId positions();

  ir::Builder& build_;
  ir::ValueId keep_, rows_, packed_indices_, starts_;
  ir::ValueId length_, positions_, sequence_;  ///< inserted on first use
};

}  // namespace tenon::passes
