// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include "ir/shape_data.h"
#include "ir/slots.h"

namespace tenon::ir {

void Bodies::push_back(Body body) {
  if (!list_) list_ = std::make_unique<std::vector<Body>>();
  list_->push_back(std::move(body));
}

Graph::Graph(const OpTable& ops) : Graph(ops, std::make_shared<Symbols>(), false) {}
Graph::Graph(const OpTable& ops, std::shared_ptr<Symbols> symbols, bool is_body)
    : ops_(&ops), symbols_(std::move(symbols)), is_body_(is_body) {
  static_assert(sizeof(NodeSlot) == 3 * kCacheLine && sizeof(ValueSlot) == 3 * kCacheLine);
}
Graph::~Graph() = default;

std::unique_ptr<Graph> Graph::body_of(const Graph& outer) { return std::unique_ptr<Graph>(new Graph(*outer.ops_, outer.symbols_, true)); }

// --- looking -------------------------------------------------------------------------------------------------

bool Graph::alive(NodeId id) const {
  if (!id || id.slot() >= nodes_.size()) return false;
  const NodeSlot& s = nodes_[id.slot()];
  return s.live && s.generation == id.generation();
}

bool Graph::alive(ValueId id) const {
  if (!id || id.slot() >= values_.size()) return false;
  const ValueSlot& s = values_[id.slot()];
  return s.live && s.generation == id.generation();
}

const Node& Graph::node(NodeId id) const { return slot(id).node; }
const Value& Graph::value(ValueId id) const { return slot(id).value; }
NodeId Graph::next(NodeId id) const {
  const NodeId after = slot(id).next;
  prefetch_node(after);
  return after;
}
NodeId Graph::previous(NodeId id) const { return slot(id).previous; }
void Graph::prefetch_node(NodeId id) const {
  if (!id || id.slot() >= nodes_.size()) return;
  const auto* lines = reinterpret_cast<const std::byte*>(&nodes_[id.slot()]);
  __builtin_prefetch(lines);
  __builtin_prefetch(lines + kCacheLine);
}

void Graph::prefetch_values(NodeId id) const {
  if (!alive(id)) return;
  const Node& n = nodes_[id.slot()].node;
  for (ValueId v : n.inputs)
    if (v) __builtin_prefetch(&values_[v.slot()]);
  for (ValueId v : n.outputs)
    if (v) __builtin_prefetch(&values_[v.slot()]);
}

bool Graph::is_before(NodeId a, NodeId b) const { return slot(a).key < slot(b).key; }

bool Graph::is_defined_before(ValueId value, NodeId node) const {
  NodeId producer = slot(value).value.producer;
  return !producer || !node || is_before(producer, node);
}

auto Graph::name_of() const {
  return [this](ValueId id) -> std::string_view { return values_[id.slot()].value.name; };
}

ValueId Graph::find_value(std::string_view value_name) const { return names_.find(value_name, name_of()); }

NodeId Graph::only_user(ValueId id) const {
  const Value& v = value(id);
  return v.uses.size() == 1 ? v.uses[0].node : NodeId{};
}

bool Graph::is_output(ValueId id) const {
  // The shorter of both lists; a value may have 100,000 uses and a graph as many outputs.
  const Value& v = value(id);
  if (v.uses.size() <= outputs_.size()) {
    for (const Use& use : v.uses) {
      if (use.is_output()) return true;
    }
    return false;
  }
  for (ValueId output : outputs_) {
    if (output == id) return true;
  }
  return false;
}

std::vector<ValueId> Graph::values() const {
  std::vector<ValueId> out;
  out.reserve(live_values_);
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i].live) out.push_back(ValueId(i, values_[i].generation));
  }
  return out;
}

std::string Graph::unique_name(std::string_view stem) const {
  std::string base(stem.empty() ? "v" : stem);
  if (!find_value(base)) return base;
  uint32_t& count = next_suffix_[base];
  while (true) {
    std::string candidate = base + "_" + std::to_string(++count);
    if (!find_value(candidate)) return candidate;
  }
}

// --- values --------------------------------------------------------------------------------------------------

ValueId Graph::new_value(Value::Kind kind) {
  uint32_t index;
  if (free_values_.empty()) {
    TENON_ASSERT(values_.size() < kMaxSlots);
    index = static_cast<uint32_t>(values_.size());
    values_.add();
  } else {
    index = free_values_.back();
    free_values_.pop_back();
  }
  ValueSlot& s = values_[index];
  s.live = true;
  s.value.kind = kind;
  ++live_values_;
  return ValueId(index, s.generation);
}

void Graph::release(ValueId id) {
  ValueSlot& s = slot(id);
  TENON_ASSERT(s.value.uses.empty());
  if (!s.value.name.empty()) names_.erase(s.value.name, id);
  s.value = Value{};
  s.live = false;
  --live_values_;
  if (s.generation == kLastGeneration) return;
  ++s.generation;
  free_values_.push_back(id.slot());
}

void Graph::take_name(ValueId id, std::string new_name) {
  Value& v = slot(id).value;
  if (!v.name.empty()) names_.erase(v.name, id);
  v.name.clear();
  if (new_name.empty()) return;
  v.name = find_value(new_name) ? unique_name(new_name) : std::move(new_name);
  names_.add(v.name, id);
}

ValueId Graph::add_input(std::string input_name, Type type) {
  ValueId id = new_value(Value::Kind::input);
  Value& v = slot(id).value;
  v.type = std::move(type);
  take_name(id, std::move(input_name));
  v.index = static_cast<uint32_t>(inputs_.size());
  inputs_.push_back(id);
  for (size_t i = inputs_.size() - 1; i > 0 && value(inputs_[i - 1]).has_default(); --i) {
    std::swap(inputs_[i - 1], inputs_[i]);
    slot(inputs_[i]).value.index = static_cast<uint32_t>(i);
    v.index = static_cast<uint32_t>(i - 1);
  }
  if (listener_) listener_->value_added(id);
  return id;
}

static std::optional<ShapeData> shape_data_of(const Constant& constant) {
  const bool may_be_sizes = is_integer(constant.dtype) || constant.dtype == DType::boolean;
  if (!may_be_sizes || constant.count() > static_cast<int64_t>(kMaxShapeData)) return std::nullopt;
  const Tensor* elements = constant.tensor();
  return elements ? shape_data_of(*elements) : std::nullopt;
}

ValueId Graph::add_constant(ConstantRef constant, std::string constant_name) {
  TENON_ASSERT(constant != nullptr);
  ValueId id = new_value(Value::Kind::constant);
  Value& v = slot(id).value;
  v.type = Type(constant->dtype, DimList(constant->shape.begin(), constant->shape.end()));
  v.constant = std::move(constant);
  v.data = shape_data_of(*v.constant);
  take_name(id, std::move(constant_name));
  if (listener_) listener_->value_added(id);
  return id;
}

void Graph::set_default(ValueId id, ConstantRef value) {
  Value& v = slot(id).value;
  TENON_ASSERT(v.kind == Value::Kind::input && !is_body_ && (!value || value->dtype == v.type.dtype));
  const bool moves = v.has_default() != (value != nullptr);
  v.constant = std::move(value);
  if (!moves) return;
  std::erase(inputs_, id);
  inputs_.insert(v.has_default() ? inputs_.end() : inputs_.begin() + static_cast<ptrdiff_t>(required_inputs()), id);
  for (size_t i = 0; i < inputs_.size(); ++i) slot(inputs_[i]).value.index = static_cast<uint32_t>(i);
}

size_t Graph::required_inputs() const {
  size_t count = 0;
  for (ValueId id : inputs_) count += !value(id).has_default();
  return count;
}

void Graph::erase_value(ValueId id) {
  Value& v = slot(id).value;
  TENON_ASSERT(v.kind != Value::Kind::result && v.uses.empty());
  if (listener_) listener_->value_erasing(id);
  if (v.kind == Value::Kind::input) {
    std::erase_if(states_, [id](const State& s) { return s.input == id; });
    for (size_t i = v.index + 1; i < inputs_.size(); ++i) --slot(inputs_[i]).value.index;
    inputs_.erase(inputs_.begin() + v.index);
  }
  release(id);
}

void Graph::set_name(ValueId id, std::string new_name) {
  if (slot(id).value.name == new_name) return;
  std::string before = slot(id).value.name;
  take_name(id, std::move(new_name));
  if (listener_) listener_->value_renamed(id, before);
}

void Graph::transfer_name(ValueId from, ValueId to) {
  std::string& old = slot(from).value.name;
  std::string& fresh = slot(to).value.name;
  TENON_ASSERT(fresh.empty());
  if (old.empty()) return;
  names_.move_name(old, from, to);
  fresh.swap(old);
  if (!listener_) return;
  listener_->value_renamed(from, fresh);
  listener_->value_renamed(to, old);
}

void Graph::set_type(ValueId id, Type type) {
  Value& v = slot(id).value;
  if (v.type == type) return;
  Type before = std::exchange(v.type, std::move(type));
  if (listener_) listener_->type_changed(id, before);
}

void Graph::set_data(ValueId id, std::optional<ShapeData> data) { slot(id).value.data = std::move(data); }

// --- what a node carries -------------------------------------------------------------------------------------

void Graph::set_name(NodeId id, std::string new_name) { slot(id).node.name = std::move(new_name); }
void Graph::set_provenance(NodeId id, std::shared_ptr<const Provenance> provenance) { slot(id).node.provenance = std::move(provenance); }
Graph& Graph::body(NodeId id, size_t index) { return *slot(id).node.bodies[index].graph; }

void Graph::set_attribute(NodeId id, std::string attribute, Attribute value) {
  Attributes& all = slot(id).node.attributes;
  if (!listener_) return all.set(std::move(attribute), std::move(value));
  const Attribute* old = all.find(attribute);
  std::optional<Attribute> before = old ? std::optional(*old) : std::nullopt;
  all.set(attribute, std::move(value));
  listener_->attribute_changed(id, attribute, before ? &*before : nullptr);
}

void Graph::erase_attribute(NodeId id, std::string_view attribute) {
  Attributes& all = slot(id).node.attributes;
  const Attribute* old = all.find(attribute);
  if (!old) return;
  Attribute before = *old;
  all.erase(attribute);
  if (listener_) listener_->attribute_changed(id, attribute, &before);
}

}  // namespace tenon::ir
