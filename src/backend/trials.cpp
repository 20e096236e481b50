// SPDX-License-Identifier: Apache-2.0
#include "backend/trials.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/segment.h"

namespace tenon::backend {

std::unique_ptr<ir::Graph> single_node_graph(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  ir::Segment segment{.backend = {}, .nodes = {id}, .operands = {}, .results = {}};
  for (ir::ValueId v : node.inputs)
    if (v && !graph.value(v).is_constant() && std::ranges::find(segment.operands, v) == segment.operands.end())
      segment.operands.push_back(v);
  for (ir::ValueId v : node.outputs)
    if (v) segment.results.push_back(v);
  return ir::extract_segment(graph, segment);
}

std::string call_text(const ir::NodeView& view) {
  std::string out;
  const auto add = [&](std::string_view part) { out.append(out.empty() ? "" : ", ").append(part); };
  for (const ir::Operand& o : view.inputs) add(o.present ? o.type.text() : "_");
  for (const auto& [name, value] : *view.attributes) add(fmt::format("{}={}", name, ir::text_of(value)));
  return fmt::format("{}{}{}-{}({})", view.op->domain, view.op->domain.empty() ? "" : "::", view.op->name, view.op->since_version, out);
}

bool has_only_tensors(const ir::NodeView& view) {
  return std::ranges::all_of(view.inputs, [](const ir::Operand& o) { return !o.present || o.type.is_tensor(); }) &&
         std::ranges::all_of(view.outputs, [](const ir::Type& t) { return t.is_tensor(); });
}

}  // namespace tenon::backend
