// SPDX-License-Identifier: Apache-2.0
// Nodes, operands and outputs: every change of a use-list is made here.
#include <algorithm>

#include "ir/slots.h"

namespace tenon::ir {

// --- use-lists: each slot stores its place in the list, so that removal is a swap with the last ------------

uint32_t& Graph::position_of(Use use) { return use.is_output() ? output_positions_[use.slot] : slot(use.node).positions[use.slot]; }

void Graph::add_use(ValueId value, Use use) {
  if (!value) return;
  auto& uses = slot(value).value.uses;
  position_of(use) = static_cast<uint32_t>(uses.size());
  uses.push_back(use);
}

void Graph::drop_use(ValueId value, Use use) {
  if (!value) return;
  auto& uses = slot(value).value.uses;
  uint32_t at = position_of(use);
  TENON_ASSERT(at < uses.size() && uses[at] == use);
  if (at + 1 < uses.size()) {
    uses[at] = uses.back();
    position_of(uses[at]) = at;
  }
  uses.pop_back();
}

void Graph::repoint(Use use, ValueId to) {
  ValueId& place = use.is_output() ? outputs_[use.slot] : slot(use.node).node.inputs[use.slot];
  ValueId before = place;
  drop_use(before, use);
  place = to;
  add_use(to, use);
  if (!listener_) return;
  if (use.is_output()) {
    listener_->output_changed(use.slot, before);
  } else {
    listener_->operand_changed(use.node, use.slot, before);
  }
}

// --- nodes ---------------------------------------------------------------------------------------------------

NodeId Graph::insert(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes, NodeId before) {
  uint32_t index;
  if (free_nodes_.empty()) {
    TENON_ASSERT(nodes_.size() < kMaxSlots);
    index = static_cast<uint32_t>(nodes_.size());
    nodes_.add();
  } else {
    index = free_nodes_.back();
    free_nodes_.pop_back();
  }
  NodeSlot& s = nodes_[index];
  s.live = true;
  ++live_nodes_;
  NodeId id(index, s.generation);
  link(id, before);
  s.node.op = &op;
  s.node.attributes = std::move(attributes);
  s.node.explicit_inputs = static_cast<uint32_t>(inputs.size());
  s.node.inputs = inputs;
  s.positions.assign(s.node.inputs.size(), 0);
  for (uint32_t k = 0; k < s.node.inputs.size(); ++k) {
    ValueId input = s.node.inputs[k];
    TENON_ASSERT(!input || is_defined_before(input, id));
    add_use(input, {id, k});
  }
  s.node.outputs.reserve(static_cast<uint32_t>(outputs));
  for (uint32_t k = 0; k < outputs; ++k) {
    ValueId result = new_value(Value::Kind::result);
    slot(result).value.producer = id;
    slot(result).value.index = k;
    s.node.outputs.push_back(result);
  }
  if (listener_) listener_->inserted(id);
  return id;
}

void Graph::erase(NodeId id) {
  NodeSlot& s = slot(id);
  for (ValueId output : s.node.outputs) TENON_ASSERT(!output || slot(output).value.uses.empty());
  if (listener_) listener_->erasing(id);
  for (uint32_t k = 0; k < s.node.inputs.size(); ++k) drop_use(s.node.inputs[k], {id, k});
  for (ValueId output : s.node.outputs) {
    if (output) release(output);
  }
  unlink(id);
  s.node = Node{};
  s.positions = {};
  s.live = false;
  --live_nodes_;
  if (s.generation == kLastGeneration) return;
  ++s.generation;
  free_nodes_.push_back(id.slot());
}

void Graph::drop_result(NodeId id, uint32_t index, bool keep_slot) {
  Node& node = slot(id).node;
  TENON_ASSERT(index < node.outputs.size());
  if (node.outputs[index]) release(node.outputs[index]);
  node.outputs[index] = {};
  while (!keep_slot && !node.outputs.empty() && !node.outputs.back()) node.outputs.pop_back();
}

void Graph::set_operand(NodeId id, uint32_t k, ValueId value) {
  NodeSlot& s = slot(id);
  TENON_ASSERT(!value || is_defined_before(value, id));
  if (k == s.node.inputs.size() && s.node.inputs.size() == s.node.explicit_inputs) {
    s.node.inputs.push_back({});
    s.positions.push_back(0);
    ++s.node.explicit_inputs;
  }
  TENON_ASSERT(k < s.node.inputs.size());
  if (s.node.inputs[k] != value) repoint({id, k}, value);
}

void Graph::trim_operands(NodeId id) {
  NodeSlot& s = slot(id);
  if (s.node.inputs.size() != s.node.explicit_inputs) return;
  while (!s.node.inputs.empty() && !s.node.inputs.back()) {
    s.node.inputs.pop_back();
    s.positions.pop_back();
  }
  s.node.explicit_inputs = static_cast<uint32_t>(s.node.inputs.size());
}

// --- bodies and captures -------------------------------------------------------------------------------------

void Graph::insert_operand(NodeId id, uint32_t k, ValueId value) {
  NodeSlot& s = slot(id);
  TENON_ASSERT(!value || is_defined_before(value, id));
  // The operands after change their slot: their entries in the use-lists are taken out and put back.
  for (uint32_t i = k; i < s.node.inputs.size(); ++i) drop_use(s.node.inputs[i], {id, i});
  s.node.inputs.insert(s.node.inputs.begin() + k, value);
  s.positions.push_back(0);
  for (uint32_t i = k; i < s.node.inputs.size(); ++i) add_use(s.node.inputs[i], {id, i});
}

void Graph::remove_operand(NodeId id, uint32_t k) {
  NodeSlot& s = slot(id);
  for (uint32_t i = k; i < s.node.inputs.size(); ++i) drop_use(s.node.inputs[i], {id, i});
  s.node.inputs.erase(s.node.inputs.begin() + k);
  s.positions.pop_back();
  for (uint32_t i = k; i < s.node.inputs.size(); ++i) add_use(s.node.inputs[i], {id, i});
}

void Graph::attach_body(NodeId id, std::string body_name, std::unique_ptr<Graph> graph, std::span<const ValueId> captures) {
  TENON_ASSERT(graph->symbols_ == symbols_ && graph->inputs_.size() >= captures.size());
  NodeSlot& s = slot(id);
  graph->is_body_ = true;
  auto first = static_cast<uint32_t>(s.node.inputs.size());
  s.node.bodies.push_back({std::move(body_name), std::move(graph), first, static_cast<uint32_t>(captures.size())});
  for (ValueId capture : captures) insert_operand(id, static_cast<uint32_t>(s.node.inputs.size()), capture);
}

ValueId Graph::add_capture(NodeId id, size_t index, ValueId captured) {
  Node& node = slot(id).node;
  Body& body = node.bodies[index];
  const Value& v = value(captured);
  ValueId input = body.graph->add_input(v.name, v.type);
  body.graph->set_data(input, v.data);
  insert_operand(id, body.first_capture + body.captures, captured);
  ++body.captures;
  for (size_t b = index + 1; b < node.bodies.size(); ++b) ++node.bodies[b].first_capture;
  return input;
}

void Graph::drop_capture(NodeId id, size_t index, uint32_t capture) {
  Node& node = slot(id).node;
  Body& body = node.bodies[index];
  TENON_ASSERT(capture < body.captures);
  Graph& inner = *body.graph;
  inner.erase_value(inner.inputs_[inner.inputs_.size() - body.captures + capture]);
  remove_operand(id, body.first_capture + capture);
  --body.captures;
  for (size_t b = index + 1; b < node.bodies.size(); ++b) --node.bodies[b].first_capture;
}

// --- outputs -------------------------------------------------------------------------------------------------

void Graph::add_output(ValueId value, std::string output_name) {
  if (output_name.empty()) output_name = slot(value).value.name;
  outputs_.push_back(value);
  output_positions_.push_back(0);
  output_names_.push_back(std::move(output_name));
  add_use(value, {{}, static_cast<uint32_t>(outputs_.size() - 1)});
}

void Graph::set_output(uint32_t k, ValueId value) {
  TENON_ASSERT(k < outputs_.size() && alive(value));
  if (outputs_[k] != value) repoint({{}, k}, value);
}

void Graph::set_output_name(uint32_t k, std::string output_name) { output_names_.at(k) = std::move(output_name); }

void Graph::erase_output(uint32_t k) {
  TENON_ASSERT(k < outputs_.size());
  for (uint32_t i = k; i < outputs_.size(); ++i) drop_use(outputs_[i], {{}, i});
  outputs_.erase(outputs_.begin() + k);
  output_names_.erase(output_names_.begin() + k);
  output_positions_.pop_back();
  for (uint32_t i = k; i < outputs_.size(); ++i) add_use(outputs_[i], {{}, i});
  std::erase_if(states_, [k](const State& s) { return s.output == k; });
  for (State& s : states_) s.output -= s.output > k;
}

bool Graph::replace_all_uses(ValueId from, ValueId to, NodeId except) {
  if (from == to) return true;
  NodeId anchor = slot(to).value.producer;
  if (anchor) {
    std::vector<NodeId> movers;
    if (!collect_movers(from, anchor, except, movers)) return false;
    move_after(anchor, movers);
  }
  auto& uses = slot(from).value.uses;
  // From the back: dropping the last use is a pop, and those of `except` stay where they are.
  for (size_t i = uses.size(); i > 0; --i) {
    Use use = uses[i - 1];
    if (use.is_output() || use.node != except) repoint(use, to);
  }
  return true;
}

}  // namespace tenon::ir
