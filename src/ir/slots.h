// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arena's cells; only graph*.cpp, order.cpp and verify.cpp look at them.
#include "ir/graph.h"

namespace tenon::ir {

struct Graph::NodeSlot {
  Node node;
  std::vector<uint32_t> positions;  ///< where operand k stands in its value's use-list
  uint64_t key = 0;                 ///< order key: grows along the list
  NodeId previous, next;
  uint32_t mark = 0;  ///< equal to Graph::mark_: visited in the walk that runs now
  uint8_t generation = 0;
  bool live = false;
};

struct Graph::ValueSlot {
  Value value;
  uint8_t generation = 0;
  bool live = false;
};

/// A slot is given out 255 times and then retired, so that a generation tag never comes back.
inline constexpr uint8_t kLastGeneration = 255;

inline Graph::NodeSlot& Graph::slot(NodeId id) const {
  TENON_ASSERT(alive(id));
  return nodes_[id.slot()];
}
inline Graph::ValueSlot& Graph::slot(ValueId id) const {
  TENON_ASSERT(alive(id));
  return values_[id.slot()];
}

}  // namespace tenon::ir
