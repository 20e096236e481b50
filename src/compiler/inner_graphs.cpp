// SPDX-License-Identifier: Apache-2.0
#include "compiler/inner_graphs.h"

#include <fmt/format.h>

#include "compiler/fallback_options.h"
#include "compiler/lower_partition.h"
#include "compiler/portable.h"
#include "compiler/rewrite_and_partition.h"

namespace tenon::compiler {

namespace {

constexpr uint32_t kInProgress = 0xffffffff;
constexpr size_t kMaxInnerGraphDepth = 16;  ///< of inner graphs within inner graphs
constexpr size_t kMaxShownBytes = 400;      ///< of a text in an error

/// Puts the place of the graph in front of the place of the error.
Error in_graph(Error error, const backend::InnerGraph& graph) {
  const std::string inside = error->place;
  return std::move(error).placed_at(inside.empty() ? graph.place : graph.place + ", " + inside);
}

/// Equal for equal graphs; constants are identified by their addresses, which stay valid as long as the lowered graphs.
std::string key_of(const backend::InnerGraph& graph) {
  std::string key = graph.text + '\0';
  for (const ir::ConstantRef& c : graph.constants) key += fmt::format("{} ", fmt::ptr(std::get<Tensor>(c->source).data()));
  return key;
}

}  // namespace

InnerGraphs::InnerGraphs(const CompileOptions& options, const BackendsInUse& backends, const ir::OpTable& ops,
                         const codegen::Target& target)
    : options_(fallback_options(options, backends)), ops_(ops), target_(target) {
  options_.source.clear();  // errors name the graph
}

Result<program::LoweredGraph> InnerGraphs::lowered(const backend::InnerGraph& graph) {
  const ir::TextConstants constants{graph.constants};
  auto parsed = parse_untrusted_graph(graph.text, ops_, &constants);
  if (!parsed && parsed.error()->found.empty()) return std::move(parsed).error().found(graph.text.substr(0, kMaxShownBytes));
  PartitionedGraph& partitioned =
      *partitioned_.emplace_back(std::make_unique<PartitionedGraph>(TRY(rewrite_and_partition(TRY(std::move(parsed)), options_))));
  std::vector<partition::FailedSegment> failed_segments;
  return lower_partition(partitioned, options_, target_, failed_segments);
}

Result<uint32_t> InnerGraphs::number_of(const backend::InnerGraph& graph) {
  const std::string key = key_of(graph);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    if (known->second != kInProgress) return known->second;
    return fail(Code::bad_graph, graph.place, "the graph runs itself")
        .expected("a graph that none of its own nodes runs")
        .found(graph.text.substr(0, kMaxShownBytes));
  }
  const size_t depth = static_cast<size_t>(std::ranges::count(numbers_, kInProgress, &std::pair<const std::string, uint32_t>::second));
  if (depth >= kMaxInnerGraphDepth)
    return fail(Code::limit_exceeded, graph.place, "inner graphs are nested too deep")
        .expected(fmt::format("at most {}", kMaxInnerGraphDepth));
  numbers_.emplace(key, kInProgress);
  auto made = lowered(graph);
  if (!made) return in_graph(std::move(made).error(), graph);
  TRY(lower_graphs_of(*made));
  lowered_.push_back(*std::move(made));
  return numbers_[key] = static_cast<uint32_t>(lowered_.size() - 1);
}

Result<void> InnerGraphs::lower_graphs_of(program::LoweredGraph& lowered) {
  for (backend::Blob& blob : lowered.blobs)
    for (backend::InnerGraph& graph : blob.graphs) graph.number = TRY(number_of(graph));
  for (const ir::NodeId n : lowered.graph->nodes()) {
    const auto bodies = lowered.bodies.find(n);
    if (bodies == lowered.bodies.end()) continue;
    for (program::LoweredGraph& body : bodies->second) TRY(lower_graphs_of(body));
  }
  return {};
}

}  // namespace tenon::compiler
