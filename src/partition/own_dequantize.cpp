// SPDX-License-Identifier: Apache-2.0
#include "partition/own_dequantize.h"

#include <algorithm>

#include "ops/core/op.h"

namespace tenon::partition {

namespace {

/// Nodes that read the value as a plain operand, each once, in the order of its uses.
std::vector<ir::NodeId> plain_readers(const ir::Graph& graph, ir::ValueId value) {
  std::vector<ir::NodeId> out;
  for (const ir::Use& use : graph.value(value).uses)
    if (!use.is_output() && graph.node(use.node).bodies.empty() && std::ranges::find(out, use.node) == out.end()) out.push_back(use.node);
  return out;
}

/// Inserts a copy of the node before the reader, which then reads the copy.
void copy_for(ir::Graph& graph, ir::NodeId original, ir::NodeId reader) {
  const ir::Node& from = graph.node(original);
  const ir::ValueId shared = from.outputs[0];
  const ir::NodeId copy = graph.insert(*from.op, {from.inputs.begin(), from.inputs.end()}, 1, from.attributes, reader);
  graph.set_provenance(copy, graph.node(original).provenance);
  const ir::ValueId copied = graph.node(copy).outputs[0];
  graph.set_type(copied, graph.value(shared).type);
  for (uint32_t slot = 0; slot < graph.node(reader).inputs.size(); ++slot)
    if (graph.node(reader).inputs[slot] == shared) graph.set_operand(reader, slot, copied);
}

}  // namespace

void copy_dequantize_to_readers(ir::Graph& graph) {
  std::vector<ir::NodeId> dequantizing;
  for (const ir::NodeId n : graph.nodes()) {
    if (ops::def_of(*graph.node(n).op).placed_with == ops::PlacedWith::consumer) dequantizing.push_back(n);
    for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) copy_dequantize_to_readers(graph.body(n, b));
  }
  for (const ir::NodeId n : dequantizing) {
    std::vector<ir::NodeId> readers = plain_readers(graph, graph.node(n).outputs[0]);
    const bool original_is_used = std::ranges::any_of(graph.value(graph.node(n).outputs[0]).uses, [&](const ir::Use& use) {
      return use.is_output() || !graph.node(use.node).bodies.empty();
    });
    for (size_t k = original_is_used ? 0 : 1; k < readers.size(); ++k) copy_for(graph, n, readers[k]);
  }
}

}  // namespace tenon::partition
