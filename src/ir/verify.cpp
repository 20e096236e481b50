// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <fmt/format.h>

#include "ir/slots.h"

namespace tenon::ir {

/// One graph's checks; bodies get a Verifier of their own.
class Verifier {
 public:
  explicit Verifier(const Graph& graph) : g_(graph) {}

  Result<void> run() {
    TRY(list());
    TRY(values());
    TRY(outputs());
    for (const State& s : g_.states_) TRY(g_.is_body_ ? broken(s.input, "a state of a body") : check_state(g_, s));
    for (NodeId n = g_.head_; n; n = g_.nodes_[n.slot()].next) TRY(node(n));
    return use_lists();
  }

 private:
  std::string name_of(NodeId n) const {
    const Node& node = g_.nodes_[n.slot()].node;
    std::string label = node.name;
    for (ValueId v : node.outputs) {
      if (label.empty() && g_.alive(v)) label = g_.value(v).name;
    }
    return fmt::format("node '{}' ({}) #{}", label, node.op ? node.op->name : "no op", n.slot());
  }
  std::string name_of(ValueId v) const {
    return g_.alive(v) ? fmt::format("value '{}' #{}", g_.value(v).name, v.slot()) : fmt::format("dead value #{}", v.slot());
  }
  template <class Place>
  Error broken(Place place, std::string what) const {
    return fail(Code::internal, name_of(place), std::move(what));
  }

  /// The list visits each live node once, links agree both ways and keys grow.
  Result<void> list() const {
    size_t count = 0;
    NodeId previous;
    for (NodeId n = g_.head_; n; n = g_.nodes_[n.slot()].next) {
      if (!g_.alive(n)) return broken(n, "the node list holds a dead node");
      const Graph::NodeSlot& s = g_.nodes_[n.slot()];
      if (s.previous != previous) return broken(n, "the node list's links disagree");
      if (previous && g_.nodes_[previous.slot()].key >= s.key) return broken(n, "order keys do not grow along the list");
      if (++count > g_.live_nodes_) return broken(n, "the node list is longer than the number of live nodes");
      previous = n;
    }
    if (g_.tail_ != previous || count != g_.live_nodes_) return fail(Code::internal, g_.name, "the node list and the live nodes disagree");
    return {};
  }

  Result<void> values() const {
    size_t names = 0;
    for (ValueId id : g_.values()) {
      const Value& v = g_.value(id);
      if (!v.name.empty() && g_.find_value(v.name) != id) return broken(id, "the name is not the value's alone");
      names += !v.name.empty();
      TRY(origin(id, v));
    }
    if (names != g_.names_.size()) return fail(Code::internal, g_.name, "the name table holds names that no value has");
    return {};
  }

  Result<void> origin(ValueId id, const Value& v) const {
    switch (v.kind) {
      case Value::Kind::input:
        if (v.index >= g_.inputs_.size() || g_.inputs_[v.index] != id) return broken(id, "not the graph input that it says it is");
        TRY(default_of(id, v));
        break;
      case Value::Kind::constant:
        if (!v.constant) return broken(id, "a constant without bytes");
        if (v.type.dtype != v.constant->dtype) return broken(id, "type and bytes of the constant differ in dtype");
        break;
      case Value::Kind::result:
        if (!g_.alive(v.producer)) return broken(id, "its producer is gone");
        if (v.index >= g_.node(v.producer).outputs.size() || g_.node(v.producer).outputs[v.index] != id)
          return broken(id, "not the result that it says it is");
        break;
    }
    if (v.kind != Value::Kind::result && v.producer) return broken(id, "an input or constant with a producer");
    return {};
  }

  /// A default has its input's type, and inputs with defaults come last.
  Result<void> default_of(ValueId id, const Value& v) const {
    if (!v.constant)
      return v.index < g_.required_inputs() ? Result<void>() : broken(id, "an input without a default after one that has one");
    if (v.type.dtype != v.constant->dtype) return broken(id, "type and default of the input differ in dtype");
    return {};
  }

  /// Slot `use` is in the use-list of `value`, at the place that it remembers.
  bool is_listed(ValueId value, Use use, uint32_t position) const {
    const auto& uses = g_.value(value).uses;
    return position < uses.size() && uses[position] == use;
  }

  Result<void> outputs() {
    if (g_.outputs_.size() != g_.output_positions_.size() || g_.outputs_.size() != g_.output_names_.size())
      return fail(Code::internal, g_.name, "outputs, their names and their places differ in number");
    for (uint32_t k = 0; k < g_.outputs_.size(); ++k) {
      if (!g_.alive(g_.outputs_[k])) return fail(Code::internal, g_.name, fmt::format("output {} is a dead value", k));
      if (!is_listed(g_.outputs_[k], {{}, k}, g_.output_positions_[k])) return broken(g_.outputs_[k], "output is not in the use-list");
      ++slots_;
    }
    return {};
  }

  Result<void> operands(NodeId id, const Graph::NodeSlot& s) {
    if (s.positions.size() != s.node.inputs.size()) return broken(id, "operands and their places differ in number");
    if (s.node.explicit_inputs > s.node.inputs.size()) return broken(id, "more explicit operands than operands");
    for (uint32_t k = 0; k < s.node.inputs.size(); ++k) {
      ValueId v = s.node.inputs[k];
      if (!v) continue;
      if (!g_.alive(v)) return broken(id, fmt::format("operand {} is a dead value", k));
      if (!g_.is_defined_before(v, id)) return broken(id, fmt::format("operand {} ({}) is made after it", k, name_of(v)));
      if (!is_listed(v, {id, k}, s.positions[k])) return broken(id, fmt::format("operand {} is not in the use-list", k));
      ++slots_;
    }
    return {};
  }

  Result<void> node(NodeId id) {
    const Graph::NodeSlot& s = g_.nodes_[id.slot()];
    if (!s.node.op) return broken(id, "no op");
    TRY(operands(id, s));
    for (uint32_t k = 0; k < s.node.outputs.size(); ++k) {
      ValueId v = s.node.outputs[k];
      if (v && (!g_.alive(v) || g_.value(v).producer != id || g_.value(v).index != k))
        return broken(id, fmt::format("result {} is not its own", k));
    }
    TRY(arity(id, s.node));
    return bodies(id, s.node);
  }

  Result<void> arity(NodeId id, const Node& node) const {
    auto fits = [](size_t n, int low, int high) { return n >= static_cast<size_t>(low) && (high < 0 || n <= static_cast<size_t>(high)); };
    if (!fits(node.explicit_inputs, node.op->min_inputs, node.op->max_inputs))
      return broken(id, "number of operands that the op does not take");
    if (!fits(node.outputs.size(), node.op->min_outputs, node.op->max_outputs))
      return broken(id, "number of results that the op does not make");
    return {};
  }

  Result<void> bodies(NodeId id, const Node& node) const {
    uint32_t at = node.explicit_inputs;
    for (const Body& body : node.bodies) {
      if (!body.graph) return broken(id, "a body without a graph");
      if (body.first_capture != at) return broken(id, fmt::format("captures of body '{}' do not follow those before", body.name));
      if (body.captures > body.graph->inputs().size())
        return broken(id, fmt::format("body '{}' has fewer inputs than captures", body.name));
      if (&body.graph->symbols() != &g_.symbols()) return broken(id, fmt::format("body '{}' has symbols of its own", body.name));
      at += body.captures;
      TRY(verify(*body.graph));
    }
    if (at != node.inputs.size()) return broken(id, "operands after the explicit ones that no body captures");
    return {};
  }

  /// Each slot was found in its use-list; equal numbers say that no use-list holds anything else.
  Result<void> use_lists() const {
    size_t uses = 0;
    for (ValueId id : g_.values()) uses += g_.value(id).uses.size();
    if (uses != slots_) return fail(Code::internal, g_.name, fmt::format("use-lists hold {} uses where there are {}", uses, slots_));
    return {};
  }

  const Graph& g_;
  size_t slots_ = 0;
};

Result<void> verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace tenon::ir
