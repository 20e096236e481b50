// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/replace.h"

#include <algorithm>
#include <set>
#include <vector>

namespace tenon::rewrite {

using ir::NodeId;
using ir::Value;
using ir::ValueId;

namespace {

/// The type of a value that has both types: numbers where one has them; else the dims of `old`, from which the users' types were inferred.
ir::Type merged(const ir::Type& old, const ir::Type& new_type) {
  if (old.dtype == DType::none || !old.shape) return new_type.dtype == DType::none ? old : new_type;
  ir::Type out = old;
  if (!new_type.shape) return out;
  for (size_t i = 0; i < out.shape->size(); ++i)
    if ((*new_type.shape)[i].is_number()) (*out.shape)[i] = (*new_type.shape)[i];
  return out;
}

/// Infers the node once more; returns whether the type or the shape data of a result has changed. forgets_old_types: those of its results
/// are dropped first.
Result<bool> infer_again(ir::Graph& graph, NodeId node, Journal& journal, bool forgets_old_types) {
  const std::vector<ValueId> outputs = graph.node(node).outputs;
  std::vector<std::pair<ir::Type, std::optional<ir::ShapeData>>> before;
  for (ValueId out : outputs) {
    before.emplace_back(out ? graph.value(out).type : ir::Type(), out ? graph.value(out).data : std::nullopt);
    if (!out) continue;
    journal.record_type(out);
    if (!forgets_old_types || graph.node(node).op->unknown) continue;  // declared types of an unknown node cannot be inferred again
    graph.set_type(out, ir::Type());
    graph.set_data(out, std::nullopt);
  }
  TRY(infer(graph, node));
  bool changed = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    const Value& value = graph.value(outputs[i]);
    if (value.type == before[i].first && value.data == before[i].second) continue;
    journal.record_retyped(outputs[i]);
    changed = true;
  }
  return changed;
}

/// In topological order: each node is inferred once, and its users only where a result has changed.
Result<void> infer_from(ir::Graph& graph, std::span<const NodeId> nodes, Journal& journal, bool forgets_old_types) {
  const auto before = [&graph](NodeId a, NodeId b) { return graph.is_before(a, b); };
  std::set<NodeId, decltype(before)> pending(nodes.begin(), nodes.end(), before);
  while (!pending.empty()) {
    const NodeId node = *pending.begin();
    pending.erase(pending.begin());
    Result<bool> changed = infer_again(graph, node, journal, forgets_old_types);
    if (!changed && forgets_old_types) return std::unexpected(std::move(changed).error());
    // Only a node that was illegal before can fail: the graph verifier reports it.
    if (!changed || !*changed) continue;
    for (ValueId out : graph.node(node).outputs) {
      if (!out) continue;
      for (const ir::Use& use : graph.value(out).uses)
        if (use.node) pending.insert(use.node);
    }
  }
  return {};
}

/// Whether more elements of `to` are known than of `from`; only small integers and bools matter to inference.
bool has_more_known_elements(const Value& from, const Value& to) {
  if (is_float(to.type.dtype) || to.type.dtype == DType::string) return false;
  if (to.is_constant() && to.constant->count() > static_cast<int64_t>(ir::kMaxShapeData)) return false;
  const auto all_numbers = [](const Value& v) { return v.data && std::ranges::all_of(*v.data, [](Dim d) { return d.is_number(); }); };
  return to.is_constant() ? !all_numbers(from) : to.data && !from.data;
}

}  // namespace

std::string_view type_conflict(const ir::Type& from, const ir::Type& to) {
  if (from.kind != to.kind) return "the replacement has another kind of type";
  if (from.dtype != DType::none && to.dtype != DType::none && from.dtype != to.dtype) return "the replacement has another dtype";
  if (!from.shape || !to.shape) return {};
  if (from.shape->size() != to.shape->size()) return "the replacement has another rank";
  for (size_t i = 0; i < from.shape->size(); ++i)
    if ((*from.shape)[i].equals((*to.shape)[i]) == false) return "the replacement has another shape";
  return {};
}

void reinfer_users(ir::Graph& graph, ValueId value, Journal& journal) {
  journal.record_retyped(value);
  std::vector<NodeId> users;
  for (const ir::Use& use : graph.value(value).uses)
    if (use.node) users.push_back(use.node);
  reinfer(graph, users, journal);
}

void reinfer(ir::Graph& graph, std::span<const NodeId> nodes, Journal& journal) {
  const Result<void> never_fails = infer_from(graph, nodes, journal, false);
  TENON_ASSERT(never_fails);
}

Result<void> retype(ir::Graph& graph, std::span<const NodeId> nodes, Journal& journal) { return infer_from(graph, nodes, journal, true); }

bool is_kept(const ir::Graph& graph, ir::NodeId id, const NameSet& keep) {
  if (keep.empty()) return false;
  const ir::Node& node = graph.node(id);
  return keep.contains(node.name) || std::ranges::any_of(node.outputs, [&](ValueId v) { return v && keep.contains(graph.value(v).name); });
}

std::string try_replace_all_uses(ir::Graph& graph, ValueId from, ValueId to, Journal& journal) {
  if (from == to) return "the replacement is the value itself";
  if (const auto conflict = type_conflict(graph.value(from).type, graph.value(to).type); !conflict.empty()) return std::string(conflict);
  const Value& value = graph.value(to);
  const bool same_type = graph.value(from).type == value.type;
  bool has_new_facts = has_more_known_elements(graph.value(from), value);
  std::optional<ir::Type> known;
  if (!same_type) {
    known = merged(graph.value(from).type, value.type);
    has_new_facts |= !(*known == graph.value(from).type);
  }
  const bool adds_data = !value.data && graph.value(from).data;
  if (adds_data || (known && !(value.type == *known))) journal.record_type(to);
  if (!graph.replace_all_uses(from, to)) return "the replacement would make a cycle";
  // The new value gets the name of the one that it replaces, so that values can be compared before and after a rewrite.
  if (value.name.empty()) {
    graph.transfer_name(from, to);
    journal.record_name_transfer(from, to);
  }
  if (known && value.kind == Value::Kind::result && !(value.type == *known)) graph.set_type(to, std::move(*known));
  if (adds_data) graph.set_data(to, graph.value(from).data);
  if (has_new_facts) reinfer_users(graph, to, journal);
  return {};
}

}  // namespace tenon::rewrite
