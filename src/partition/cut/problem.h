// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::partition {

/// A graph as the cut reads it: the target of each node, and its predecessors.
struct Problem {
  struct Node {
    uint16_t target = 0;
    uint16_t falls_to = 0;  ///< where it goes when its accelerated segment is given up; not accelerated
    uint32_t counts = 1;    ///< how many do work: what a segment's size counts
    bool pinned = false;
    bool alone = false;  ///< a conditional, which the walk gives a segment of its own
    /// Breaks ties between equal nodes: where keys differ, the cut does not depend on the order of the nodes.
    uint64_t key = 0;
  };
  explicit Problem(uint16_t count, uint16_t first_fallback) : targets(count), fallback(first_fallback) {}

  uint16_t targets;         ///< in order of priority
  uint16_t fallback;        ///< targets before this one are accelerated
  std::vector<Node> nodes;  ///< in topological order

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  bool accelerated(uint32_t node) const { return nodes[node].target < fallback; }

  /// Nodes that must run before it, each once, in any order.
  std::span<const uint32_t> predecessors(uint32_t node) const {
    return std::span(edges_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  /// Adds a node that depends on nodes added before; `predecessors` may name one several times.
  uint32_t add(Node node, std::span<const uint32_t> predecessors);

 private:
  std::vector<uint32_t> edges_, first_ = {0};
};

/// The nodes that depend on each node. Cost: linear.
class Successors {
 public:
  explicit Successors(const Problem& problem);
  std::span<const uint32_t> operator[](uint32_t node) const {
    return std::span(edges_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<uint32_t> edges_, first_;
};

/// Segments in the order of running: no node depends on a node of a later segment.
struct Cut {
  explicit Cut(size_t nodes = 0) : place(nodes) {}

  std::vector<uint16_t> targets;  ///< of each segment, in the order of running
  std::vector<uint32_t> place;    ///< of each node: its segment
  /// No cut of the same nodes to the same targets has fewer segments than this.
  uint32_t bound = 0;
  uint64_t given_up_after = 0;  ///< visits of nodes and edges, where a search for fewer did not end

  uint32_t size() const { return static_cast<uint32_t>(targets.size()); }
  bool proved() const { return bound == size(); }
};

/// Whether the cut solves the problem: each node is in a segment of its target, after its predecessors, and no segment is empty.
bool is_legal(const Problem& problem, const Cut& cut);

}  // namespace tenon::partition
