// SPDX-License-Identifier: Apache-2.0
#include "ir/dim_remapper.h"
#include "ir/slots.h"

namespace tenon::ir {
namespace {

void carry_dims(Value& v, const DimRemapper& carry) {
  v.type = carry(std::move(v.type));
  if (v.data)
    for (Dim& d : *v.data) d = carry(d);
}

/// Copies a node without its bodies.
Node copy_of(const Node& n) {
  return {.op = n.op,
          .explicit_inputs = n.explicit_inputs,
          .inputs = n.inputs,
          .outputs = n.outputs,
          .attributes = n.attributes,
          .bodies = {},
          .provenance = n.provenance,
          .name = n.name};
}

template <class NodeSlot>
void copy_place(const NodeSlot& from, NodeSlot& to) {
  to.positions = from.positions;
  to.key = from.key;
  to.previous = from.previous;
  to.next = from.next;
  to.generation = from.generation;
  to.live = from.live;
}

void copy_assumptions(const Assumptions& from, Assumptions& to, const DimRemapper& carry) {
  for (const Assumption& a : from.all())
    to.add(a.kind, carry(a.a), carry(a.b), [&](Assumption& made) {
      made.where = a.where;
      made.what = a.what;
    });
}

}  // namespace

void Graph::copy_slots_to(Graph& copy) const {
  const DimRemapper carry(copy.symbols_ == symbols_ ? nullptr : copy.symbols_.get());
  for (size_t i = 0; i < values_.size(); ++i) {
    ValueSlot& to = copy.values_.add();
    to = values_[i];
    if (!to.live) continue;
    carry_dims(to.value, carry);
    if (!to.value.name.empty()) copy.names_.add(to.value.name, ValueId(static_cast<uint32_t>(i), to.generation));
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeSlot& from = nodes_[i];
    NodeSlot& to = copy.nodes_.add();
    to.node = copy_of(from.node);
    copy_place(from, to);
    for (const Body& body : from.node.bodies) {
      std::unique_ptr<Graph> inner(new Graph(*copy.ops_, copy.symbols_, true));
      body.graph->copy_slots_to(*inner);
      to.node.bodies.push_back({body.name, std::move(inner), body.first_capture, body.captures});
    }
  }
  copy_assumptions(assumptions, copy.assumptions, carry);
  copy.name = name;
  copy.opsets = opsets;
  copy.free_nodes_ = free_nodes_;
  copy.free_values_ = free_values_;
  copy.head_ = head_;
  copy.tail_ = tail_;
  copy.live_nodes_ = live_nodes_;
  copy.live_values_ = live_values_;
  copy.inputs_ = inputs_;
  copy.outputs_ = outputs_;
  copy.output_positions_ = output_positions_;
  copy.output_names_ = output_names_;
  copy.states_ = states_;
}

std::unique_ptr<Graph> Graph::clone_body(const Graph& outer) const {
  std::unique_ptr<Graph> copy(new Graph(*outer.ops_, outer.symbols_, true));
  copy_slots_to(*copy);
  return copy;
}

std::unique_ptr<Graph> Graph::clone() const {
  std::unique_ptr<Graph> copy(new Graph(*ops_, is_body_ ? symbols_ : std::make_shared<Symbols>(), is_body_));
  if (!is_body_) {
    // In the order of the original, so that interned polynomials have the same order.
    for (Dim s : symbols_->all()) copy->symbols_->symbol(s.node()->name, s.node()->lower, s.node()->upper);
  }
  copy_slots_to(*copy);
  return copy;
}

}  // namespace tenon::ir
