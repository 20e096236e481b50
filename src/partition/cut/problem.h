// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::partition {

/// A graph as those see it that cut it into segments: who runs each node, and what must come after what.
struct Problem {
  struct Node {
    uint16_t target = 0;
    uint16_t falls_to = 0;  ///< where it goes when its accelerated segment is given up; not accelerated
    uint32_t counts = 1;    ///< how many do work: what a segment's size counts
    bool pinned = false;
    bool alone = false;  ///< a conditional, which the walk gives a segment of its own
    /// Nodes that are alike otherwise are told apart by it. Plans do not depend on the order of nodes where keys differ.
    uint64_t key = 0;
  };
  explicit Problem(uint16_t count, uint16_t first_fallback) : targets(count), fallback(first_fallback) {}

  uint16_t targets;         ///< in order of priority
  uint16_t fallback;        ///< targets before this one are accelerated
  std::vector<Node> nodes;  ///< each after what it needs

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  bool accelerated(uint32_t node) const { return nodes[node].target < fallback; }

  /// What the node must come after, in any order; each once.
  std::span<const uint32_t> predecessors(uint32_t node) const {
    return std::span(edges_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  /// Adds a node after those, which are there already and may come several times.
  uint32_t add(Node node, std::span<const uint32_t> predecessors);

 private:
  std::vector<uint32_t> edges_, first_ = {0};
};

/// Who comes after each node. Cost: linear.
class Successors {
 public:
  explicit Successors(const Problem& problem);
  std::span<const uint32_t> operator[](uint32_t node) const {
    return std::span(edges_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<uint32_t> edges_, first_;
};

/// Segments one after the other: no node of one needs a node of a later one.
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

/// Whether the cut is one of the problem: each node in a segment of its target, after all that it needs, and no segment empty.
bool is_legal(const Problem& problem, const Cut& cut);

}  // namespace tenon::partition
