// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/segment.h"

namespace tenon::compiler {

/// The segments of a graph, cut out. Those that compute the same from the same constants are compiled once: they are one graph, without the
/// names that distinguish them. Cost: linear in the graph.
class CutSegments {
 public:
  CutSegments(const ir::Graph& graph, std::span<const ir::Segment> segments);

  const ir::Graph& graph(size_t segment) const { return *cuts_[segment]; }
  /// The first segment that is equal to this one.
  size_t first_equal(size_t segment) const { return first_[segment]; }

 private:
  std::vector<std::unique_ptr<ir::Graph>> cuts_;
  std::vector<size_t> first_;
};

}  // namespace tenon::compiler
