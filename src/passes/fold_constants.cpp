// SPDX-License-Identifier: Apache-2.0
#include "ops/core/op.h"
#include "ops/core/random_streams.h"
#include "ops/reference/evaluate.h"
#include "passes/passes.h"
#include "rewrite/driver/driver.h"

namespace tenon::passes {
namespace {

using ops::Folded;
constexpr int64_t kResultBytes = 65536;  ///< limit of results that are computed at once; larger ones become lazy constants or stay nodes
constexpr int64_t kIntermediateBytes = int64_t{4} << 20;  ///< limit of each tensor inside the definition of a fused op
constexpr int64_t kOperandBytes = 4 << 20;                ///< limit of the operands of a node that the (slow) reference evaluates

/// Whether all operands are constants and the op may run at compile time.
bool foldable(const Graph& graph, const ir::Node& node) {
  for (ir::ValueId input : node.inputs)
    if (input && (!graph.value(input).is_constant() || graph.value(input).constant->unread())) return false;
  if (!node.op->deterministic || node.op->has_effects || !node.bodies.empty()) return false;
  for (ir::ValueId out : node.outputs)
    if (out && graph.value(out).type.kind != ir::Type::Kind::tensor) return false;
  return true;
}

int64_t operand_bytes(const Graph& graph, const ir::Node& node) {
  int64_t bytes = 0;
  for (ir::ValueId input : node.inputs)
    if (input) bytes += graph.value(input).constant->byte_size();
  return bytes;
}

/// Bytes of all results; nullopt where a size is not known before the node runs.
std::optional<int64_t> result_bytes(const Graph& graph, const ir::Node& node) {
  int64_t bytes = 0;
  for (ir::ValueId out : node.outputs) {
    if (!out) continue;
    const ir::Type& type = graph.value(out).type;
    if (!type.shape || !type.is_static()) return std::nullopt;
    const Dim count = type.count();
    if (!count.is_number() || count.value() > (int64_t{1} << 40)) return std::nullopt;
    bytes += bytes_of(type.dtype, count.value());
  }
  return bytes;
}

/// The results as lazy constants by the op's own fold function; nullopt where it has none or cannot express them.
Folded fold_lazily(const Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const auto fold = ops::def_of(*node.op).fold;
  if (!fold) return std::nullopt;
  std::vector<ir::ConstantRef> operands;
  for (ir::ValueId input : node.inputs) operands.push_back(input ? graph.value(input).constant : nullptr);
  return fold(graph.view(id), operands);
}

/// The results computed by the reference evaluator; nullopt where it refuses, or a limit is exceeded.
Folded compute(const Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  std::vector<const Tensor*> inputs;
  for (ir::ValueId input : node.inputs) {
    inputs.push_back(input ? graph.tensor_of(input, kOperandBytes) : nullptr);
    if (input && !inputs.back()) return std::nullopt;
  }
  // A node that the reference refuses stays in the graph: its error belongs to the run, not to the build.
  auto results = ops::evaluate_node(graph, id, inputs, ops::Mode::declared, kIntermediateBytes);
  if (!results) return std::nullopt;
  std::vector<ir::ConstantRef> out(node.outputs.size());
  int64_t bytes = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!node.outputs[i]) continue;
    bytes += (*results)[i].byte_size();
    out[i] = ir::constant_of(std::move((*results)[i]));
  }
  return bytes <= kResultBytes ? Folded(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<ir::ConstantRef>> fold_node(const Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!foldable(graph, node) || ops::is_random(graph, id)) return std::nullopt;
  const int64_t operands = operand_bytes(graph, node);
  const auto results = result_bytes(graph, node);
  const bool small = results.value_or(operands <= kResultBytes ? 0 : kResultBytes + 1) <= kResultBytes;
  if (operands > kResultBytes && !node.inputs.empty())
    if (auto lazy = fold_lazily(graph, id)) return lazy;
  if (small && operands <= kOperandBytes) return compute(graph, id);
  return node.inputs.empty() ? std::nullopt : fold_lazily(graph, id);
}

Result<bool> fold_constants(Graph& graph, Context& context) {
  const auto none = TRY(rewrite::RuleSet::make({}, graph.ops()));
  rewrite::Options options;
  options.fold = fold_node;
  options.cancelled = context.options.rewriting.cancelled;
  return TRY(rewrite::rewrite(graph, none, options)).changed;
}

}  // namespace tenon::passes
