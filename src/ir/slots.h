// SPDX-License-Identifier: Apache-2.0
#pragma once
// The slots of the arenas of a graph; only graph*.cpp, order.cpp and verify.cpp use them.
#include "ir/graph.h"

namespace tenon::ir {

/// Walks over large graphs are bound by memory latency. A slot has three cache lines; the first one has the fields that nearly every visit
/// reads (order, op, operands; kind, users, dtype).
inline constexpr size_t kCacheLine = 64;

struct alignas(kCacheLine) Graph::NodeSlot {
  uint64_t key = 0;  ///< order key: increases along the list
  NodeId previous, next;
  uint8_t generation = 0;
  bool live = false;
  Node node;
  SmallList<uint32_t, 4> positions;  ///< where operand k is in its value's use-list
};

struct alignas(kCacheLine) Graph::ValueSlot {
  uint8_t generation = 0;
  bool live = false;
  Value value;
};

/// A slot is reused 255 times and then retired, so that an id is never valid twice.
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
