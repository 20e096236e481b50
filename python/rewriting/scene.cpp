// SPDX-License-Identifier: Apache-2.0
#include "rewriting/scene.h"

#include <algorithm>
#include <ranges>

namespace tenon::python {

using ir::NodeId;
using ir::ValueId;

// --- nodes and their objects -----------------------------------------------------------------------------------

bool Scene::is_current(const State& state, NodeId id) const {
  const ir::Graph& g = get();
  const ir::Node& node = g.node(id);
  const std::span<const ValueId> operands(node.inputs.begin(), node.inputs.size()), results(node.outputs.begin(), node.outputs.size());
  if (!std::ranges::equal(operands, state.operands) || !std::ranges::equal(results, state.results)) return false;
  auto name = state.names.begin();
  const auto same = [&](ValueId v) { return !v || g.value(v).name == *name++; };
  return std::ranges::all_of(operands, same) && std::ranges::all_of(results, same);
}

void Scene::remember(State& state, NodeId id) {
  const ir::Node& node = get().node(id);
  state.operands.assign(node.inputs.begin(), node.inputs.end());
  state.results.assign(node.outputs.begin(), node.outputs.end());
  state.attributes = node.attributes;
  state.names.clear();
  for (const auto* values : {&state.operands, &state.results})
    for (ValueId v : *values)
      if (v) state.names.push_back(ensure_name({graph_, v}));
}

nb::object Scene::object_of(NodeId id) {
  State& state = states_[id];
  if (!state.object.is_valid()) {
    remember(state, id);
    state.object = make_(NodeRef{graph_, id});
    nodes_[state.object.ptr()] = id;
  } else if (!is_current(state, id)) {
    remember(state, id);
    fill_(state.object, NodeRef{graph_, id});
  }
  return state.object;
}

nb::object Scene::node_of(nb::handle object) {
  const auto found = nodes_.find(object.ptr());
  if (found == nodes_.end() || !get().alive(found->second)) return nb::none();
  return nb::cast(NodeRef{graph_, found->second});
}

nb::list Scene::objects() {
  everywhere_ = true;
  nb::list out;
  for (NodeId id : get().nodes()) out.append(object_of(id));
  return out;
}

nb::object Scene::node_before(std::string_view name) {
  const ir::Value* value = value_named(name);
  return value && value->producer ? object_of(value->producer) : nb::none();
}

nb::list Scene::next_nodes(std::string_view name) {
  nb::list out;
  const ir::Value* value = value_named(name);
  if (!value) return out;
  const ir::Graph& g = get();
  std::vector<NodeId> users;
  for (const ir::Use& use : value->uses)
    if (use.node && use.slot < g.node(use.node).explicit_inputs && std::ranges::find(users, use.node) == users.end())
      users.push_back(use.node);
  if (users.size() > 1) std::ranges::sort(users, [&](NodeId a, NodeId b) { return g.is_before(a, b); });
  for (NodeId user : users) out.append(object_of(user));
  return out;
}

// --- results ---------------------------------------------------------------------------------------------------

ValueId Scene::find(std::string_view name) {
  if (name.empty()) return {};
  const ir::Graph& g = get();
  if (const ValueId value = g.find_value(name)) return value;
  for (uint32_t k = 0; k < g.outputs().size(); ++k)
    if (g.output_name(k) == name) return g.outputs()[k];
  return {};
}

const ir::Value* Scene::value_named(std::string_view name) {
  const ValueId id = find(name);
  if (!id) return nullptr;
  reads_.push_back(id);
  return &get().value(id);
}

bool Scene::is_output(std::string_view name) {
  const ir::Graph& g = get();
  for (uint32_t k = 0; k < g.outputs().size(); ++k)
    if (g.output_name(k) == name) return true;
  const ir::Value* value = value_named(name);
  return value && std::ranges::any_of(value->uses, [](const ir::Use& use) { return use.is_output(); });
}

bool Scene::is_used(std::string_view name) {
  const ir::Value* value = value_named(name);
  return value && !value->uses.empty();
}

bool Scene::is_captured(std::string_view name) {
  const ir::Value* value = value_named(name);
  const ir::Graph& g = get();
  return value &&
         std::ranges::any_of(value->uses, [&](const ir::Use& use) { return use.node && use.slot >= g.node(use.node).explicit_inputs; });
}

bool Scene::is_used_more_than_once(std::string_view name) {
  const ir::Value* value = value_named(name);
  if (!value) return false;
  const ir::Graph& g = get();
  NodeId first;
  for (const ir::Use& use : value->uses) {
    if (use.is_output() || use.slot >= g.node(use.node).explicit_inputs || (first && use.node != first)) return true;
    first = use.node;
  }
  return false;
}

// --- what has changed --------------------------------------------------------------------------------------------

void Scene::mark(const std::vector<ValueId>& values) {
  last_change_ = sweep_;
  for (ValueId value : values) values_[value].changed = sweep_;
}

void Scene::note_value(ValueId id) {
  const ir::Value& value = get().value(id);
  ValueState& known = values_[id];
  const bool output = std::ranges::any_of(value.uses, [](const ir::Use& use) { return use.is_output(); });
  if (known.type == value.type && known.output == output && known.changed) return;
  known = {value.type, output, sweep_};
  last_change_ = sweep_;
}

void Scene::note_node(NodeId id) {
  const ir::Node& node = get().node(id);
  State& state = states_[id];
  const bool same_attributes = state.attributes == node.attributes;
  if (!state.changed || !same_attributes || !is_current(state, id)) {
    mark(state.operands);
    mark(state.results);
    remember(state, id);
    if (state.object.is_valid()) fill_(state.object, NodeRef{graph_, id});
    mark(state.operands);
    mark(state.results);
    state.changed = sweep_;
  }
  state.seen = sweep_;
  bool used = false;
  for (ValueId result : node.outputs) {
    if (!result) continue;
    note_value(result);
    used |= !get().value(result).uses.empty();
  }
  if (used) live_.push_back(id);
}

void Scene::note_removed() {
  for (auto at = states_.begin(); at != states_.end();) {
    if (at->second.seen == sweep_) {
      ++at;
      continue;
    }
    mark(at->second.operands);
    mark(at->second.results);
    if (at->second.object.is_valid()) nodes_.erase(at->second.object.ptr());
    at = states_.erase(at);
  }
}

void Scene::begin_sweep() {
  ++sweep_;
  live_.clear();
  for (NodeId id : get().nodes()) note_node(id);
  for (ValueId input : get().inputs()) note_value(input);
  note_removed();
}

bool Scene::still_refused(const Refusal& refusal, NodeId node) const {
  if (states_.at(node).changed > refusal.sweep || (refusal.everywhere && last_change_ > refusal.sweep)) return false;
  return std::ranges::none_of(refusal.reads, [&](ValueId id) {
    const auto known = values_.find(id);
    return known != values_.end() && known->second.changed > refusal.sweep;
  });
}

// --- trying a pattern --------------------------------------------------------------------------------------------

nb::tuple Scene::match_nodes(size_t pattern, const std::vector<std::string>& op_types, nb::handle match, nb::handle view,
                             nb::list matched) {
  auto& refused = refused_[pattern];
  nb::list found;
  int64_t asked = 0;
  for (NodeId id : live_) {
    if (!op_types.empty() && std::ranges::find(op_types, get().node(id).op->name) == op_types.end()) continue;
    const auto earlier = refused.find(id);
    if (earlier != refused.end() && still_refused(earlier->second, id)) continue;
    reads_.clear();
    everywhere_ = false;
    ++asked;
    const nb::object answer = match(view, object_of(id), matched);
    if (answer.is_none()) {
      std::ranges::sort(reads_);
      const auto doubles = std::ranges::unique(reads_);
      reads_.erase(doubles.begin(), doubles.end());
      refused[id] = {sweep_, everywhere_, reads_};
    } else {
      if (earlier != refused.end()) refused.erase(earlier);
      found.append(nb::make_tuple(NodeRef{graph_, id}, answer));
      matched.append(answer);
    }
  }
  return nb::make_tuple(asked, found);
}

}  // namespace tenon::python
