// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"
#include "rewrite/driver/driver.h"
#include "rewrite/driver/listener_scope.h"
#include "rewrite/driver/replace.h"

namespace tenon::passes {
namespace {

/// The value as a constant where all of its elements are known numbers.
std::optional<Tensor> known_elements(const ir::Value& value) {
  const ir::Type& type = value.type;
  if (!(is_integer(type.dtype) || type.dtype == DType::boolean) || !value.data || type.kind != ir::Type::Kind::tensor || !type.is_static())
    return std::nullopt;
  Sizes shape;
  for (Dim d : *type.shape) shape.push_back(d.value());
  auto tensor = Tensor::make(type.dtype, std::move(shape));
  if (!tensor || static_cast<size_t>(tensor->count()) != value.data->size()) return std::nullopt;
  for (size_t i = 0; i < value.data->size(); ++i) {
    if (!(*value.data)[i].is_number()) return std::nullopt;
    tensor->set_integer(static_cast<int64_t>(i), (*value.data)[i].value());
  }
  return std::move(*tensor);
}

bool replace_by_constants(Graph& graph, ir::NodeId node, rewrite::Journal& journal) {
  bool changed = false;
  for (size_t i = 0; i < graph.node(node).outputs.size(); ++i) {
    const ir::ValueId out = graph.node(node).outputs[i];
    if (!out || graph.value(out).uses.empty()) continue;
    auto tensor = known_elements(graph.value(out));
    if (!tensor) continue;
    journal.begin();
    const ir::ValueId constant = graph.add_constant(ir::constant_of(std::move(*tensor)));
    if (rewrite::try_replace_all_uses(graph, out, constant, journal).empty()) changed = true;
    else journal.undo();
  }
  return changed;
}

}  // namespace

Result<bool> shape_arithmetic(Graph& graph, Context& context) {
  bool changed = false;
  const rewrite::NameSet& keep = context.options.rewriting.keep;
  {
    rewrite::Journal journal(graph);
    const rewrite::ListenerScope scope(graph, &journal);
    for (ir::NodeId node : graph.nodes()) {
      if (!rewrite::is_kept(graph, node, keep) && graph.node(node).op->deterministic && !graph.node(node).op->has_effects)
        changed |= replace_by_constants(graph, node, journal);
      for (size_t i = 0; i < graph.node(node).bodies.size(); ++i) changed |= TRY(shape_arithmetic(graph.body(node, i), context));
    }
  }
  if (changed) rewrite::eliminate_dead_code(graph, keep);
  return changed;
}

}  // namespace tenon::passes
