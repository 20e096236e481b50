// SPDX-License-Identifier: Apache-2.0
#include "ops/plugin/evaluated_graphs.h"

#include <fmt/format.h>

#include <cstring>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {

namespace {

constexpr int kMostNested = 16;  ///< graphs in graphs in graphs
constexpr size_t kShown = 400;
thread_local int depth = 0;

Result<std::unique_ptr<ir::Graph>> read(const plugin::AddedGraph& added, const ir::OpTable& ops) {
  ir::TextConstants constants;
  for (const Tensor& t : added.constants) constants.constants.push_back(ir::constant_of(t));
  auto graph = TRY(ir::parse(added.text, ops, &constants));
  TRY(ir::verify(*graph));
  return graph;
}

}  // namespace

Result<std::unique_ptr<EvaluatedGraphs>> EvaluatedGraphs::make(std::span<const plugin::AddedGraph> added, const ir::OpTable& ops,
                                                               const std::string& place) {
  if (added.empty()) return std::unique_ptr<EvaluatedGraphs>();
  auto out = std::make_unique<EvaluatedGraphs>();
  for (const plugin::AddedGraph& one : added) {
    auto graph = read(one, ops);
    if (!graph)
      return fail(graph.error().code(), fmt::format("{}, inner graph {}, {}", place, out->graphs_.size(), graph.error()->place),
                  graph.error()->what)
          .expected("a graph in Tenon's text form")
          .found(one.text.substr(0, kShown));
    out->graphs_.push_back(*std::move(graph));
  }
  return out;
}

Result<void> EvaluatedGraphs::run(uint32_t number, std::span<const Tensor> operands, std::span<const Tensor> results) {
  if (depth >= kMostNested)
    return fail(Code::limit_exceeded, "run_graph", "inner graphs are nested too deep").expected(fmt::format("at most {}", kMostNested));
  ++depth;
  auto made = evaluate(*graphs_[number], operands);
  --depth;
  if (!made) return std::move(made).error();
  for (size_t k = 0; k < results.size(); ++k) {
    const Tensor& from = (*made)[k];
    if (from.dtype() != results[k].dtype() || from.shape() != results[k].shape())
      return fail(Code::bad_input, fmt::format("result '{}'", graphs_[number]->output_name(static_cast<uint32_t>(k))),
                  "it has another type than the graph gives")
          .expected(type_text(from))
          .found(type_text(results[k]));
    if (from.byte_size() > 0) std::memcpy(const_cast<std::byte*>(results[k].data()), from.data(), static_cast<size_t>(from.byte_size()));
  }
  return {};
}

Result<std::vector<plugin::AddedGraph>> added_graphs_of(const ir::NodeView& view, const plugin::Object& object) {
  const auto value_of = [&](uint32_t operand) -> Result<Tensor> {
    const Tensor* const known = view.has(operand) ? view.inputs[operand].constant : nullptr;
    return known ? *known : Tensor();
  };
  return plugin::added_graphs(object, static_cast<uint32_t>(view.explicit_inputs), value_of);
}

}  // namespace tenon::ops
