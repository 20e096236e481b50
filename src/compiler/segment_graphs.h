// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/segment.h"

namespace tenon::compiler {

/// Graphs extracted from segments (ir::extract_segment). Segments with equal nodes and constants need be compiled once only: their graphs
/// are without names, so that they are equal. Cost: linear in the graph.
class SegmentGraphs {
 public:
  SegmentGraphs(const ir::Graph& graph, std::span<const ir::Segment> segments);

  const ir::Graph& graph(size_t segment) const { return *graphs_[segment]; }
  /// The number of the first segment that is equal to this one.
  size_t first_equal(size_t segment) const { return first_[segment]; }

 private:
  std::vector<std::unique_ptr<ir::Graph>> graphs_;
  std::vector<size_t> first_;
};

}  // namespace tenon::compiler
