// SPDX-License-Identifier: Apache-2.0
#include "ir/segment.h"

#include <algorithm>
#include <unordered_set>

#include "ir/dim_remapper.h"

namespace tenon::ir {

namespace {

template <class Visit>
void each_size(const Type& type, Visit visit) {
  if (!type.is_tensor() || !type.has_rank()) return;
  for (Dim d : *type.shape) each_symbol(d, visit);
}

/// Visits the sizes of a value's type and, where they are known, of its elements.
template <class Visit>
void each_size(const Value& value, Visit visit) {
  each_size(value.type, visit);
  if (!value.data) return;
  for (Dim d : *value.data) each_symbol(d, visit);
}

/// Visits the sizes of a node's results, and of all values in its bodies, which use sizes of the enclosing graph.
template <class Visit>
void each_size(const Graph& graph, const Node& node, Visit visit) {
  for (ValueId v : node.outputs)
    if (v) each_size(graph.value(v), visit);
  for (const Body& b : node.bodies)
    for (NodeId inner : b.graph->nodes()) each_size(*b.graph, b.graph->node(inner), visit);
}

bool has_effects(const Node& node) {
  if (node.op->has_effects) return true;
  for (const Body& b : node.bodies)
    for (NodeId inner : b.graph->nodes())
      if (has_effects(b.graph->node(inner))) return true;
  return false;
}

/// A depth-first walk over dependencies, without recursion since graphs are deep.
class Ordering {
 public:
  Ordering(const Graph& graph, std::span<const Segment> segments) : graph_(graph), dependencies_(graph) {
    for (const Segment& s : segments)
      for (NodeId n : s.nodes) segments_.emplace(n, &s);
    for (NodeId n : graph.nodes())
      if (!segments_.contains(n) && dependencies_.follows_from_input_sizes(n)) dependencies_.take_from_size_table(n);
  }

  Result<std::vector<ScheduleUnit>> run() {
    for (NodeId n : graph_.nodes()) TRY(visit(n));
    return std::move(units_);
  }

 private:
  enum class State : uint8_t { fresh, open, done };
  /// The representative of a unit: its node, or the first node of its segment.
  NodeId leader(NodeId n) const {
    const auto found = segments_.find(n);
    return found == segments_.end() ? n : found->second->nodes[0];
  }

  Result<void> visit(NodeId node) {
    std::vector<NodeId> stack = {leader(node)};
    while (!stack.empty()) {
      const NodeId top = stack.back();
      State& state = states_[top];
      if (state == State::fresh) {
        state = State::open;
        TRY(push_needed(top, stack));
        continue;
      }
      stack.pop_back();
      if (state == State::done) continue;
      state = State::done;
      const auto found = segments_.find(top);
      units_.push_back(found == segments_.end() ? ScheduleUnit{top, nullptr} : ScheduleUnit{{}, found->second});
    }
    return {};
  }

  Result<void> push_needed(NodeId unit, std::vector<NodeId>& stack) {
    bool circle = false;
    auto push = [&](NodeId needed) {
      const NodeId other = leader(needed);
      if (other == unit) return;
      const State state = states_[other];
      circle |= state == State::open;
      if (state == State::fresh) stack.push_back(other);
    };
    const auto found = segments_.find(unit);
    if (found == segments_.end()) dependencies_.each(unit, push);
    else
      for (NodeId n : found->second->nodes) dependencies_.each(n, push);
    if (circle) return fail(Code::internal, graph_.view(unit).where(), "two segments need each other");
    return {};
  }

  const Graph& graph_;
  Dependencies dependencies_;
  std::unordered_map<NodeId, const Segment*> segments_;
  std::unordered_map<NodeId, State> states_;
  std::vector<ScheduleUnit> units_;
};

/// Copies a segment, value by value.
class Cutter {
 public:
  explicit Cutter(const Graph& from) : from_(from), to_(std::make_unique<Graph>(from.ops())), carry_(&to_->symbols()) {}

  std::unique_ptr<Graph> run(const Segment& segment) {
    to_->name = from_.name;
    to_->opsets = from_.opsets;
    for (ValueId v : segment.operands) map_value(v, to_->add_input(from_.value(v).name, carry_(from_.value(v).type)));
    for (NodeId n : segment.nodes) copy(n);
    for (ValueId v : segment.results) to_->add_output(copies_.at(v));
    return std::move(to_);
  }

 private:
  void map_value(ValueId original, ValueId copy) {
    copies_[original] = copy;
    const Value& v = from_.value(original);
    to_->set_type(copy, carry_(v.type));
    if (!v.data) return;
    ShapeData data = *v.data;
    for (Dim& d : data) d = carry_(d);
    to_->set_data(copy, std::move(data));
  }

  ValueId operand(ValueId v) {
    if (!v) return v;
    if (!copies_.contains(v)) map_value(v, to_->add_constant(from_.value(v).constant, from_.value(v).name));
    return copies_.at(v);
  }

  void copy(NodeId id) {
    const Node& node = from_.node(id);
    std::vector<ValueId> operands;
    for (ValueId v : node.inputs) operands.push_back(operand(v));
    const auto captured = [&](const Body& b) { return std::span(operands).subspan(b.first_capture, b.captures); };
    const NodeId made =
        to_->insert(*node.op, {operands.begin(), operands.begin() + node.explicit_inputs}, node.outputs.size(), node.attributes);
    to_->set_name(made, node.name);
    for (const Body& b : node.bodies) to_->attach_body(made, b.name, b.graph->clone_body(*to_), captured(b));
    for (uint32_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId result = to_->node(made).outputs[k];
      if (!node.outputs[k]) continue;
      to_->set_name(result, from_.value(node.outputs[k]).name);
      map_value(node.outputs[k], result);
    }
  }

  const Graph& from_;
  std::unique_ptr<Graph> to_;
  DimRemapper carry_;
  std::unordered_map<ValueId, ValueId> copies_;
};

}  // namespace

bool computes_sizes_only(const Graph& graph, const Node& node) {
  for (ValueId v : node.outputs) {
    if (!v) continue;
    const Value& value = graph.value(v);
    if (!value.data || !value.type.has_rank() || !(value.type.count() == Dim(static_cast<int64_t>(value.data->size())))) return false;
  }
  return node.op->deterministic;
}

Dependencies::Dependencies(const Graph& graph) : graph_(graph) {
  std::unordered_set<const DimNode*> of_inputs;
  for (ValueId v : graph.inputs()) each_size(graph.value(v).type, [&](const DimNode& s) { of_inputs.insert(&s); });
  for (NodeId n : graph.nodes())
    for (ValueId v : graph.node(n).outputs)
      if (v)
        each_size(graph.value(v).type, [&](const DimNode& s) {
          if (!of_inputs.contains(&s)) definitions_.emplace(&s, v);
        });
  NodeId last;
  for (NodeId n : graph.nodes()) {
    if (!has_effects(graph.node(n))) continue;
    if (last) effects_.emplace(n, last);
    last = n;
  }
}

ValueId Dependencies::definition_of(const DimNode& symbol) const {
  const auto found = definitions_.find(&symbol);
  return found == definitions_.end() ? ValueId() : found->second;
}

void Dependencies::each(NodeId id, const std::function<void(NodeId)>& visit) const {
  if (from_size_table_.contains(id)) return;
  const Node& node = graph_.node(id);
  const auto visit_producer = [&](ValueId v) {
    if (v && graph_.value(v).producer && graph_.value(v).producer != id) visit(graph_.value(v).producer);
  };
  for (ValueId v : node.inputs) visit_producer(v);
  each_size(graph_, node, [&](const DimNode& s) { visit_producer(definition_of(s)); });
  if (const auto before = effects_.find(id); before != effects_.end()) visit(before->second);
}

bool Dependencies::follows_from_input_sizes(NodeId id) const {
  const Node& node = graph_.node(id);
  if (!computes_sizes_only(graph_, node)) return false;
  bool from_inputs = true;
  for (ValueId v : node.outputs)
    if (v) each_size(graph_.value(v), [&](const DimNode& s) { from_inputs &= !definition_of(s); });
  return from_inputs;
}

Segment segment_of(const Graph& graph, const Dependencies& dependencies, std::string backend, std::vector<NodeId> nodes) {
  Segment out{.backend = std::move(backend), .nodes = std::move(nodes), .operands = {}, .results = {}};
  // Most segments of a large graph are small: a linear search in a few nodes is faster than a set.
  constexpr size_t kMaxLinearSearch = 16;
  const bool few = out.nodes.size() <= kMaxLinearSearch;
  const std::unordered_set<NodeId> many =
      few ? std::unordered_set<NodeId>() : std::unordered_set<NodeId>(out.nodes.begin(), out.nodes.end());
  const auto is_inside = [&](NodeId n) { return few ? std::ranges::find(out.nodes, n) != out.nodes.end() : many.contains(n); };
  std::unordered_set<ValueId> taken;
  const auto is_used_outside = [&](ValueId v) {
    return std::ranges::any_of(
        graph.value(v).uses, [&](const Use& u) { return u.is_output() || (!is_inside(u.node) && !dependencies.is_in_size_table(u.node)); });
  };
  const auto defines_size = [&](ValueId v) {
    bool first = false;
    each_size(graph.value(v).type, [&](const DimNode& s) { first |= dependencies.definition_of(s) == v; });
    return first;
  };
  for (NodeId n : out.nodes) {
    const auto& read = graph.node(n).inputs;
    for (ValueId v : dependencies.is_in_size_table(n) ? std::span<const ValueId>() : std::span<const ValueId>(read))
      if (v && !graph.value(v).is_constant() && !is_inside(graph.value(v).producer) && taken.insert(v).second) out.operands.push_back(v);
    for (ValueId v : graph.node(n).outputs)
      if (v && (is_used_outside(v) || defines_size(v))) out.results.push_back(v);
  }
  return out;
}

Result<std::vector<ScheduleUnit>> schedule_units(const Graph& graph, std::span<const Segment> segments) {
  if (!segments.empty()) return Ordering(graph, segments).run();
  std::vector<ScheduleUnit> units;
  for (NodeId n : graph.nodes()) units.push_back({n, nullptr});
  return units;
}

std::unique_ptr<Graph> extract_segment(const Graph& graph, const Segment& segment) { return Cutter(graph).run(segment); }

}  // namespace tenon::ir
