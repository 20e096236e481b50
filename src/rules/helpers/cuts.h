// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The one element of a constant integer; `otherwise` where the operand is missing, nullopt where it is something else.
std::optional<int64_t> one_int(const rewrite::GraphQuery& query, ir::ValueId value, std::optional<int64_t> otherwise);

/// The last size, where it is a number.
std::optional<int64_t> last_size(const rewrite::GraphQuery& query, ir::ValueId value);

/// Elements begin, begin + step, ... of the last axis of x; `length` of them.
struct Cut {
  ir::ValueId x;
  int64_t begin = 0, step = 1, length = 0;
  int64_t size = 0;  ///< of the last axis of x
};

/// The cut that `value` is, by Slice or Split along the last axis alone; all sizes must be numbers, but the parts of a Split give the
/// whole.
std::optional<Cut> cut_of(const rewrite::GraphQuery& query, ir::ValueId value);

/// (-b, a) for the halves or the even and odd elements a, b of x: what rotary embeddings multiply by the sines.
struct RotatedHalves {
  ir::ValueId x;
  bool interleaved = false;  ///< pairs (2i, 2i + 1); else (i, i + size / 2)
  int64_t size = 0;          ///< of the last axis; -1: not known, and the halves are those of a Split, of which the first may be larger
};

/// What `value` rotates, as exporters spell it; the nodes in between are taken.
std::optional<RotatedHalves> rotated_halves(rewrite::Match& match, ir::ValueId value);

}  // namespace tenon::rules
