// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The element of an integer constant with one element; `default_value` where the operand is missing, nullopt for other values.
std::optional<int64_t> single_integer(const rewrite::GraphQuery& query, ir::ValueId value, std::optional<int64_t> default_value);

/// The size of the last axis, where it is a number.
std::optional<int64_t> last_axis_size(const rewrite::GraphQuery& query, ir::ValueId value);

/// A slice of x: the elements begin, begin + step, ... of its last axis, `length` of them.
struct LastAxisSlice {
  ir::ValueId x;
  int64_t begin = 0, step = 1, length = 0;
  int64_t size = 0;  ///< of the last axis of x
};

/// The slice that `value` is, by a Slice or a Split along the last axis. nullopt for other values, and where a size is no number; the size
/// of the last axis may follow from the parts of the Split.
std::optional<LastAxisSlice> last_axis_slice_of(const rewrite::GraphQuery& query, ir::ValueId value);

/// (-b, a) for the halves or the even and odd elements a, b of x: what rotary embeddings multiply by the sines.
struct RotatedHalves {
  ir::ValueId x;
  bool interleaved = false;  ///< pairs (2i, 2i + 1); else (i, i + size / 2)
  int64_t size = 0;          ///< of the last axis; -1: not known: the halves are the results of a Split, whose first may be larger
};

/// Matches `value` as such a rotation, in the forms that exporters write; adds its nodes to the match.
std::optional<RotatedHalves> rotated_halves(rewrite::Match& match, ir::ValueId value);

}  // namespace tenon::rules
