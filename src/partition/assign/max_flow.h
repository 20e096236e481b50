// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::partition {

/// A minimum cut between a source and a sink. Source: Dinic 1970.
class MaxFlow {
 public:
  explicit MaxFlow(uint32_t nodes) : first_(nodes + 2, kNone) {}
  uint32_t add_node() {
    first_.push_back(kNone);
    return static_cast<uint32_t>(first_.size()) - 3;
  }
  /// Adds an edge: the cost of a cut with `from` on the source's side and `to` on the sink's. Infinity: such a cut is excluded.
  void add(uint32_t from, uint32_t to, double capacity) { link(from + 2, to + 2, capacity); }
  /// Adds a cost of having the node on that side.
  void add_to_sink_side(uint32_t node, double cost) { link(kSource, node + 2, cost); }
  void add_to_source_side(uint32_t node, double cost) { link(node + 2, kSink, cost); }

  /// For each node whether it is on the source's side of a minimum cut, for the smallest such side.
  std::vector<bool> source_side();

 private:
  static constexpr uint32_t kNone = UINT32_MAX, kSource = 0, kSink = 1;
  static constexpr double kScale = 1024;  ///< capacities become integers, so that the algorithm terminates
  static constexpr int64_t kInfinite = int64_t{1} << 60;
  struct Edge {
    uint32_t to, next;
    int64_t capacity;  ///< residual
  };

  void link(uint32_t from, uint32_t to, double capacity);
  bool find_levels();
  int64_t push(uint32_t from, int64_t most);

  std::vector<uint32_t> first_;
  std::vector<Edge> edges_;  ///< the reverse of edge k is k ^ 1
  std::vector<uint32_t> level_, at_;
};

}  // namespace tenon::partition
