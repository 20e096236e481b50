// SPDX-License-Identifier: Apache-2.0
// The list of nodes and its order keys. Keys have gaps; where one is used up, the smallest crowded range around it is
// numbered anew (Bender, Cole, Demaine, Farach-Colton, Zito: "Two simplified algorithms for maintaining order in a list", 2002),
// which makes an insertion O(log n) amortised at worst and O(1) in practice.
#include <algorithm>
#include <unordered_set>

#include "ir/slots.h"

namespace tenon::ir {

static constexpr uint64_t kGap = uint64_t{1} << 32;
static constexpr uint64_t kFirstKey = uint64_t{1} << 62;
static constexpr uint64_t kLastKey = ~uint64_t{0} - kGap;

void Graph::unlink(NodeId id) {
  NodeSlot& s = slot(id);
  (s.previous ? slot(s.previous).next : head_) = s.next;
  (s.next ? slot(s.next).previous : tail_) = s.previous;
  s.previous = s.next = {};
}

void Graph::link(NodeId id, NodeId before) {
  NodeSlot& s = slot(id);
  NodeId after = before ? slot(before).previous : tail_;
  if (!after && !before) {
    s.key = kFirstKey;
  } else if (!before) {
    if (slot(after).key >= kLastKey) renumber();
    s.key = slot(after).key + kGap;
  } else if (!after) {
    if (slot(before).key <= kGap) renumber();
    s.key = slot(before).key - kGap;
  } else {
    if (slot(before).key - slot(after).key < 2) make_room(slot(after).key, after);
    uint64_t low = slot(after).key;
    s.key = low + (slot(before).key - low) / 2;
  }
  s.previous = after;
  s.next = before;
  (after ? slot(after).next : head_) = id;
  (before ? slot(before).previous : tail_) = id;
}

void Graph::make_room(uint64_t key, NodeId near) {
  NodeId left = near, right = near;
  uint64_t count = 1;
  double capacity = 1;
  for (int bits = 1; bits < 62; ++bits) {
    capacity *= 1.5;
    uint64_t mask = (uint64_t{1} << bits) - 1, low = key & ~mask, high = low | mask;
    for (; slot(left).previous && slot(slot(left).previous).key >= low; ++count) left = slot(left).previous;
    for (; slot(right).next && slot(slot(right).next).key <= high; ++count) right = slot(right).next;
    if (bits < 4 || static_cast<double>(count) > capacity) continue;
    uint64_t step = (mask + 1) / count, at = low + step / 2;
    for (NodeId n = left;; n = slot(n).next, at += step) {
      slot(n).key = at;
      if (n == right) return;
    }
  }
  renumber();
}

void Graph::renumber() {
  uint64_t key = kFirstKey;
  for (NodeId n = head_; n; n = slot(n).next, key += kGap) slot(n).key = key;
}

void Graph::move_before(NodeId id, NodeId before) {
  if (id == before || slot(id).next == before) return;
  bool later = !before || is_before(id, before);
  unlink(id);
  link(id, before);
  NodeSlot& s = slot(id);
  if (later) {
    for (ValueId output : s.node.outputs) {
      if (!output) continue;
      for (const Use& use : slot(output).value.uses) TENON_ASSERT(use.is_output() || is_before(id, use.node));
    }
  } else {
    for (ValueId input : s.node.inputs) TENON_ASSERT(!input || is_defined_before(input, id));
  }
  if (listener_) listener_->moved(id);
}

/// Collects the users of `from` before `anchor`, and nodes before `anchor` that depend on them. False where `anchor` depends on them.
bool Graph::collect_movers(ValueId from, NodeId anchor, NodeId except, std::vector<NodeId>& movers) const {
  std::unordered_set<NodeId> seen;
  auto visit = [&](ValueId value, NodeId skip) {
    for (const Use& use : slot(value).value.uses) {
      if (use.is_output() || use.node == skip) continue;
      if (use.node == anchor) return false;
      if (slot(use.node).key < slot(anchor).key && seen.insert(use.node).second) movers.push_back(use.node);
    }
    return true;
  };
  if (!visit(from, except)) return false;
  for (size_t i = 0; i < movers.size(); ++i) {
    for (ValueId output : slot(movers[i]).node.outputs) {
      if (output && !visit(output, {})) return false;
    }
  }
  return true;
}

void Graph::move_after(NodeId anchor, std::vector<NodeId>& movers) {
  std::ranges::sort(movers, {}, [&](NodeId n) { return slot(n).key; });
  NodeId before = slot(anchor).next;
  for (NodeId n : movers) {
    unlink(n);
    link(n, before);
    if (listener_) listener_->moved(n);
  }
}

}  // namespace tenon::ir
