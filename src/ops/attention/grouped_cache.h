// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::ops {

/// A cache of keys and values in which each sequence has its own length, as in GroupQueryAttention of ONNX Runtime. The tokens of a
/// run follow `offset` tokens of each sequence: all of a prompt follow none.
class GroupedCache {
 public:
  /// fresh: what the run adds, [batch, sequence, ...]; past: [batch, heads, places, size]; last: the last position of each sequence after
  /// the run, i64[batch, 1]; total: how many places the longest has then, i64 of rank 0.
  GroupedCache(ir::Builder& build, ir::ValueId fresh, ir::ValueId past, ir::ValueId last, ir::ValueId total);

  /// Tokens of each sequence before the run: i64[batch, 1].
  ir::ValueId offset() const { return offset_; }
  /// Places of the joined cache, the greater of those of the past and `total`: i64 of rank 0.
  ir::ValueId size() const { return size_; }
  /// past and fresh [batch, heads, sequence, size] as [batch, heads, size(), size]; zeros after the end of a sequence.
  ir::ValueId joined(ir::ValueId past, ir::ValueId fresh) const;

 private:
  ir::Builder& build_;
  ir::ValueId offset_, size_;
  ir::ValueId source_;  ///< the position that each element is read from, in past and fresh one after the other: i64[batch, size, 1]
  ir::ValueId filled_;  ///< positions before the end of their sequence: bool[batch, 1, size, 1]
};

}  // namespace tenon::ops
