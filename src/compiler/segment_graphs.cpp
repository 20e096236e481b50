// SPDX-License-Identifier: Apache-2.0
#include "compiler/segment_graphs.h"

#include <fmt/format.h>

#include "ir/text.h"

namespace tenon::compiler {

namespace {

/// Values are numbered, nodes have no names.
void drop_names(ir::Graph& graph) {
  graph.name = "segment";
  size_t number = 0;
  for (ir::ValueId v : graph.values()) graph.set_name(v, fmt::format("v{}", number++));
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) graph.set_output_name(k, graph.value(graph.outputs()[k]).name);
  for (ir::NodeId n : graph.nodes()) {
    graph.set_name(n, "");
    for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) drop_names(graph.body(n, b));
  }
}

/// Equal where two segments compute the same from the same constants.
std::string key_of(const ir::Segment& segment, const ir::Graph& nameless) {
  ir::TextConstants large;
  std::string key = segment.backend + "\n" + ir::print(nameless, &large);
  for (const ir::ConstantRef& c : large.constants) key += fmt::format("{} ", fmt::ptr(c.get()));
  return key;
}

}  // namespace

SegmentGraphs::SegmentGraphs(const ir::Graph& graph, std::span<const ir::Segment> segments) {
  if (segments.size() == 1) {
    first_ = {0};
    graphs_.push_back(ir::extract_segment(graph, segments[0]));
    return;
  }
  std::unordered_map<std::string, size_t> known;
  for (size_t s = 0; s < segments.size(); ++s) {
    auto nameless = ir::extract_segment(graph, segments[s]);
    drop_names(*nameless);
    const auto [at, is_new] = known.try_emplace(key_of(segments[s], *nameless), s);
    first_.push_back(at->second);
    graphs_.push_back(is_new ? ir::extract_segment(graph, segments[s]) : nullptr);
    if (!is_new) graphs_[at->second] = std::move(nameless);
  }
}

}  // namespace tenon::compiler
