// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/subgraph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/core/random_streams.h"

namespace tenon::rewrite {
namespace {

constexpr int kMaxPathLength = 6;   ///< steps from one input back to another of producers that become part of the subgraph
constexpr size_t kMostNodes = 256;  ///< of match and new nodes, and those that are added to them

/// Which nodes of the graph belong to the subgraph.
class SubgraphNodes {
 public:
  explicit SubgraphNodes(const Proposal& p) : proposal_(p), graph_(p.graph) {
    nodes_.insert(p.match.nodes.begin(), p.match.nodes.end());
    nodes_.insert(p.match.other_roots.begin(), p.match.other_roots.end());
    nodes_.insert(p.new_nodes.begin(), p.new_nodes.end());
    for (const auto& [from, to] : p.replacements)
      if (const Value& v = graph_.value(from); v.kind == Value::Kind::result) nodes_.insert(v.producer);
  }

  bool holds(NodeId node) const { return nodes_.contains(node); }

  /// Adds the producers of all inputs; false where there is none that may be added.
  bool widen() {
    const size_t before = nodes_.size();
    for (ValueId v : frontier())
      if (const NodeId node = producer(v); node && may_join(node)) nodes_.insert(node);
    return nodes_.size() > before;
  }

  /// Adds the nodes on short paths from one input to another.
  void add_paths_between_inputs() {
    for (bool again = true; again;) {
      again = false;
      const std::vector<ValueId> inputs = frontier();
      const std::unordered_set<ValueId> known(inputs.begin(), inputs.end());
      for (ValueId v : inputs) again |= add_path_to_input(v, known, kMaxPathLength, true);
    }
  }

  /// The inputs: operands of both sides from outside that are no constants, in a fixed order.
  std::vector<ValueId> frontier() const {
    std::vector<ValueId> out;
    std::unordered_set<ValueId> seen;
    std::vector<ValueId> work;
    const auto visit = [&](ValueId v) {
      if (v && seen.insert(v).second) work.push_back(v);
    };
    for (const auto& [from, to] : proposal_.replacements) visit(from), visit(to);
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      const NodeId node = producer(v);
      if (node && holds(node)) std::ranges::for_each(graph_.node(node).inputs, visit);
      else if (!graph_.value(v).is_constant()) out.push_back(v);
    }
    return out;
  }

 private:
  NodeId producer(ValueId v) const {
    const Value& value = graph_.value(v);
    return value.kind == Value::Kind::result ? value.producer : NodeId{};
  }
  bool may_join(NodeId node) const {
    const ir::Op& op = *graph_.node(node).op;
    return nodes_.size() < kMostNodes && op.deterministic && !op.has_effects && !ops::is_random(graph_, node);
  }
  /// Whether a path of at most `steps` nodes leads from an input to `v`; its nodes are then added.
  bool add_path_to_input(ValueId v, const std::unordered_set<ValueId>& inputs, int steps, bool is_start) {
    if (!is_start && inputs.contains(v)) return true;
    const NodeId node = producer(v);
    if (!node || steps == 0 || (holds(node) && is_start)) return false;
    bool found = false;
    for (ValueId operand : graph_.node(node).inputs)
      if (operand && add_path_to_input(operand, inputs, steps - 1, false)) found = true;
    if (!found || !may_join(node)) return false;
    nodes_.insert(node);
    return true;
  }

  const Proposal& proposal_;
  const ir::Graph& graph_;
  std::unordered_set<NodeId> nodes_;
};

Result<void> can_run(const ir::Graph& graph, NodeId node) {
  const Node& n = graph.node(node);
  if (!n.op->deterministic || n.op->has_effects || ops::is_random(graph, node))
    return fail(Code::not_supported, "", n.op->name + " is random or has effects");
  return {};
}

/// Copies one side: the nodes between inputs and outputs.
class SubgraphSide {
 public:
  explicit SubgraphSide(const ir::Graph& graph) : graph_(graph), copy_(ir::Graph::body_of(graph)) {}

  Result<std::unique_ptr<ir::Graph>> make(const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
    for (ValueId v : inputs) made_[v] = copy_->add_input(graph_.value(v).name, graph_.value(v).type);
    for (NodeId node : ordered(outputs)) TRY(add(node));
    for (ValueId v : outputs) copy_->add_output(of(v));
    return std::move(copy_);
  }
  const std::vector<NodeId>& nodes() const { return nodes_; }

 private:
  const std::vector<NodeId>& ordered(const std::vector<ValueId>& outputs) {
    std::unordered_set<NodeId> seen;
    std::vector<ValueId> work = outputs;
    while (!work.empty()) {
      const ValueId v = work.back();
      work.pop_back();
      if (!v || made_.contains(v) || graph_.value(v).kind != Value::Kind::result) continue;
      const NodeId node = graph_.value(v).producer;
      if (!seen.insert(node).second) continue;
      nodes_.push_back(node);
      work.insert(work.end(), graph_.node(node).inputs.begin(), graph_.node(node).inputs.end());
    }
    std::ranges::sort(nodes_, [&](NodeId a, NodeId b) { return graph_.is_before(a, b); });
    return nodes_;
  }

  ValueId of(ValueId v) {
    if (!v) return {};
    ValueId& made = made_[v];
    if (!made) made = copy_->add_constant(graph_.value(v).constant);
    return made;
  }

  void add_bodies(const Node& n, NodeId copy) {
    for (const ir::Body& body : n.bodies) {
      std::vector<ValueId> captures;
      for (uint32_t i = 0; i < body.captures; ++i) captures.push_back(of(n.inputs[body.first_capture + i]));
      copy_->attach_body(copy, body.name, body.graph->clone_body(*copy_), captures);
    }
  }

  Result<void> add(NodeId id) {
    TRY(can_run(graph_, id));
    const Node& n = graph_.node(id);
    std::vector<ValueId> operands;
    for (size_t i = 0; i < n.explicit_inputs; ++i) operands.push_back(of(n.inputs[i]));
    const NodeId copy = copy_->insert(*n.op, std::move(operands), n.outputs.size(), n.attributes);
    copy_->set_name(copy, n.name);
    add_bodies(n, copy);
    for (uint32_t k = 0; k < n.outputs.size(); ++k) {
      if (!n.outputs[k]) {
        copy_->drop_result(copy, k, true);
        continue;
      }
      const ValueId result = copy_->node(copy).outputs[k];
      copy_->set_type(result, graph_.value(n.outputs[k]).type);
      made_[n.outputs[k]] = result;
    }
    return {};
  }

  const ir::Graph& graph_;
  std::unique_ptr<ir::Graph> copy_;
  std::unordered_map<ValueId, ValueId> made_;
  std::vector<NodeId> nodes_;
};

Result<void> can_draw(const ir::Graph& graph, ValueId v) {
  const ir::Type& type = graph.value(v).type;
  if (type.kind != ir::Type::Kind::tensor) return fail(Code::not_supported, "", "an input is no tensor");
  if (type.dtype == DType::none) return fail(Code::not_supported, "", "the dtype of an input is not known");
  return {};
}

}  // namespace

Result<Subgraph> extract_subgraph(const Proposal& p, int extra_steps) {
  if (p.replacements.empty() || p.edits_in_place) return fail(Code::not_supported, "", "the rule edits the graph in place");
  SubgraphNodes extent(p);
  Subgraph subgraph;
  extent.add_paths_between_inputs();
  for (int i = 0; i < extra_steps && !subgraph.is_whole; ++i) {
    subgraph.is_whole = !extent.widen();
    extent.add_paths_between_inputs();
  }
  subgraph.inputs = extent.frontier();
  for (ValueId v : subgraph.inputs) TRY(can_draw(p.graph, v));
  std::vector<ValueId> old, fresh;
  for (const auto& [from, to] : p.replacements) {
    old.push_back(from);
    fresh.push_back(to);
  }
  SubgraphSide before(p.graph), after(p.graph);
  subgraph.before = TRY(before.make(subgraph.inputs, old));
  subgraph.after = TRY(after.make(subgraph.inputs, fresh));
  subgraph.nodes = before.nodes();
  return subgraph;
}

}  // namespace tenon::rewrite
