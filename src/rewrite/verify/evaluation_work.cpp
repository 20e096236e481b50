// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/evaluation_work.h"

#include <algorithm>

#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::rewrite {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

constexpr int kMostNested = 4;  ///< definitions in definitions

void collect(const Graph& graph, NodeId id, std::vector<DimList>& out, int nested = 0);

/// Builds the definition aside, over operands of the same types. The symbols are those of `graph`, which outlive what is built here: the
/// extents may depend on sizes that the definition names.
void collect_definition(const ops::OpDef& def, const Graph& graph, NodeId id, std::vector<DimList>& out, int nested) {
  const std::unique_ptr<Graph> made = Graph::body_of(graph);
  Graph& aside = *made;
  std::vector<ValueId> operands;
  for (ValueId v : graph.node(id).inputs) {
    if (!v) operands.push_back({});
    else if (graph.value(v).is_constant()) operands.push_back(aside.add_constant(graph.value(v).constant));
    else operands.push_back(aside.add_input("in" + std::to_string(operands.size()), graph.value(v).type));
  }
  ir::Builder build(aside);
  def.definition(build, graph.view(id), operands);
  if (!build.status()) return;
  for (NodeId inner : aside.nodes()) collect(aside, inner, out, nested + 1);
}

void collect(const Graph& graph, NodeId id, std::vector<DimList>& out, int nested) {
  const ops::OpDef& def = ops::def_of(*graph.node(id).op);
  if (const auto form = def.loop_form ? def.loop_form(graph.view(id)) : fail(Code::not_supported, "", "no loop form")) {
    for (const ops::Loop& loop : form->loops) {
      out.emplace_back();
      for (const ops::Axis& axis : loop.axes) out.back().push_back(axis.extent);
    }
  } else if (def.definition && nested < kMostNested) {
    collect_definition(def, graph, id, out, nested);
  }
}

/// The product of the extents; `unknown_points` where one is not known.
double points_of(const DimList& extents, const decltype(Instance::sizes)& sizes, double unknown_points) {
  double points = 1;
  for (Dim extent : extents) {
    const Dim size = substitute(extent, [&](const DimNode& symbol) {
      const auto known = sizes.find(&symbol);
      return known == sizes.end() ? Dim::of(&symbol) : Dim(known->second);
    });
    if (!size.is_number()) return unknown_points;
    points *= static_cast<double>(std::max<int64_t>(size.value(), 0));
  }
  return points;
}

}  // namespace

int64_t EvaluationWork::of(ValueId value, int64_t count, const decltype(Instance::sizes)& sizes) {
  const NodeId id = graph_.value(value).producer;
  const ir::Node& node = graph_.node(id);
  if (*std::ranges::find_if(node.outputs, [](ValueId v) { return bool(v); }) != value) return 0;
  const std::vector<DimList>& loops = loops_of(id);
  double work = loops.empty() ? static_cast<double>(count) : 0;
  for (const DimList& extents : loops) work += points_of(extents, sizes, static_cast<double>(count));
  for (ValueId v : node.inputs)
    if (v && graph_.value(v).is_constant()) work += static_cast<double>(graph_.value(v).constant->count());
  return static_cast<int64_t>(std::min(work, 0x1p53));
}

const std::vector<DimList>& EvaluationWork::loops_of(NodeId node) {
  const auto [at, is_new] = loops_.try_emplace(node);
  if (is_new) collect(graph_, node, at->second);
  return at->second;
}

}  // namespace tenon::rewrite
