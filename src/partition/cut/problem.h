// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::partition {

/// The input of the cut: the target (backend) of each node and its predecessors. A node is one unit of the graph (units.h).
struct Problem {
  struct Node {
    uint16_t target = 0;
    uint16_t fallback_target = 0;  ///< its target where its accelerated segment moves to the fallback; not accelerated
    uint32_t work_nodes = 1;       ///< graph nodes in it that do work; the size of a segment is their sum
    bool pinned = false;           ///< its segment is kept whatever its size
    bool has_bodies = false;       ///< a branch or loop, which walk() puts into a segment of its own
    /// Breaks ties between equal nodes: where keys differ, the cut does not depend on the order of the nodes.
    uint64_t key = 0;
  };
  explicit Problem(uint16_t count, uint16_t first_fallback) : targets(count), fallback(first_fallback) {}

  uint16_t targets;         ///< in order of priority
  uint16_t fallback;        ///< targets before this one are accelerated
  std::vector<Node> nodes;  ///< in topological order

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  bool is_accelerated(uint32_t node) const { return nodes[node].target < fallback; }

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
  explicit Cut(size_t nodes = 0) : segment_of(nodes) {}

  std::vector<uint16_t> targets;     ///< of each segment, in the order of running
  std::vector<uint32_t> segment_of;  ///< per node
  /// No cut of the same nodes to the same targets has fewer segments than this.
  uint32_t lower_bound = 0;
  uint64_t stopped_after_visits = 0;  ///< visits of nodes and edges after which a search for fewer segments stopped; 0: it ended

  uint32_t size() const { return static_cast<uint32_t>(targets.size()); }
  bool proved() const { return lower_bound == size(); }
};

/// Whether the cut solves the problem: each node is in a segment of its target, after its predecessors, and no segment is empty.
bool is_legal(const Problem& problem, const Cut& cut);

}  // namespace tenon::partition
