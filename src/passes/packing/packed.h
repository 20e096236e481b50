// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>
#include <vector>

#include "passes/packing/row_op.h"

namespace tenon::passes {

/// The rows of padded sequences that are computed, as values of the graph.
class PackedRows {
 public:
  /// keep: bool[sequences, length].
  PackedRows(ir::Builder& build, ir::ValueId keep);

  /// `part` of a value, for each packed row.
  ir::ValueId part(ir::ValueId value, Part part, int rank);
  /// Rows at their original places, zeros in place of those that were left out.
  ir::ValueId unpacked(ir::ValueId packed);
  ir::ValueId places() const { return places_; }
  ir::ValueId starts() const { return starts_; }
  /// i64[]: places of a sequence.
  ir::ValueId length();

 private:
  ir::ValueId size_of(ir::ValueId value, int64_t axis);
  ir::ValueId rows_of(ir::ValueId value);
  ir::ValueId at_place(ir::ValueId value, int rank);
  ir::ValueId of_sequence(ir::ValueId value);
  ir::ValueId place();

  ir::Builder& build_;
  ir::ValueId keep_, rows_, places_, starts_;
  ir::ValueId length_, place_, sequence_;  ///< made on first use
};

}  // namespace tenon::passes
