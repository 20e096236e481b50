// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

/// For each node, a lower bound on the segments that run from it on: those of the path with most changes of target, a chain.
class Chains {
 public:
  explicit Chains(const Problem& problem);
  /// The segments of the path with most changes of target that begins at this node, its own segment included.
  uint32_t length(uint32_t node) const { return length_[node]; }
  /// Of all nodes.
  uint32_t longest() const { return longest_; }

 private:
  std::vector<uint32_t> length_;
  uint32_t longest_ = 0;
};

/// Counts the nodes that are not placed in a segment yet, by target and chain length. Cost: constant per node.
class Remaining {
 public:
  Remaining(const Problem& problem, const Chains& chains);
  void remove(uint16_t target, uint32_t length);
  /// A lower bound on the segments of these nodes: their longest chain, plus one where longest chains begin at different targets.
  uint32_t bound() const;
  bool empty() const { return longest_ == 0; }

 private:
  uint32_t& count(uint16_t target, uint32_t length) { return counts_[length * targets_ + target]; }
  uint32_t count(uint16_t target, uint32_t length) const { return counts_[length * targets_ + target]; }
  bool any(uint32_t length) const;

  uint32_t targets_, longest_;
  std::vector<uint32_t> counts_;
};

}  // namespace tenon::partition
