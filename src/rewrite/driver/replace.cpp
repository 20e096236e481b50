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

/// What is known when both types are true of one value. Numbers win; else the dims of `old`, which its users have seen already.
ir::Type merged(const ir::Type& old, const ir::Type& fresh) {
  if (old.dtype == DType::none || !old.shape) return fresh.dtype == DType::none ? old : fresh;
  ir::Type out = old;
  if (!fresh.shape) return out;
  for (size_t i = 0; i < out.shape->size(); ++i)
    if ((*fresh.shape)[i].is_number()) (*out.shape)[i] = (*fresh.shape)[i];
  return out;
}

/// Infers again; returns whether more (or something else) is known of a result than before. afresh: what was known is forgotten first.
Result<bool> infer_again(ir::Graph& graph, NodeId node, Journal& journal, bool afresh) {
  const std::vector<ValueId> outputs = graph.node(node).outputs;
  std::vector<std::pair<ir::Type, std::optional<ir::ShapeData>>> before;
  for (ValueId out : outputs) {
    before.emplace_back(out ? graph.value(out).type : ir::Type(), out ? graph.value(out).data : std::nullopt);
    if (!out) continue;
    journal.refining(out);
    if (!afresh || graph.node(node).op->unknown) continue;  // declared types of an unknown node cannot be inferred again
    graph.set_type(out, ir::Type());
    graph.set_data(out, std::nullopt);
  }
  TRY(infer(graph, node));
  bool changed = false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    const Value& value = graph.value(outputs[i]);
    if (value.type == before[i].first && value.data == before[i].second) continue;
    journal.retyped(outputs[i]);
    changed = true;
  }
  return changed;
}

/// In topological order: each node is inferred once, and its users only where a result has changed.
Result<void> infer_from(ir::Graph& graph, std::span<const NodeId> nodes, Journal& journal, bool afresh) {
  const auto before = [&graph](NodeId a, NodeId b) { return graph.is_before(a, b); };
  std::set<NodeId, decltype(before)> waiting(nodes.begin(), nodes.end(), before);
  while (!waiting.empty()) {
    const NodeId node = *waiting.begin();
    waiting.erase(waiting.begin());
    Result<bool> changed = infer_again(graph, node, journal, afresh);
    if (!changed && afresh) return std::unexpected(std::move(changed).error());
    // The typed verifier says what is wrong with an illegal node; more precise types of its operands cannot make it illegal.
    if (!changed || !*changed) continue;
    for (ValueId out : graph.node(node).outputs) {
      if (!out) continue;
      for (const ir::Use& use : graph.value(out).uses)
        if (use.node) waiting.insert(use.node);
    }
  }
  return {};
}

/// Does `to` have known elements that `from` lacks? Only small integers and bools matter to inference.
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
  journal.retyped(value);
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

std::string replace(ir::Graph& graph, ValueId from, ValueId to, Journal& journal) {
  if (from == to) return "the replacement is the value itself";
  if (const auto conflict = type_conflict(graph.value(from).type, graph.value(to).type); !conflict.empty()) return std::string(conflict);
  const Value& value = graph.value(to);
  const bool same_type = graph.value(from).type == value.type;
  bool learns = has_more_known_elements(graph.value(from), value);
  std::optional<ir::Type> known;
  if (!same_type) {
    known = merged(graph.value(from).type, value.type);
    learns |= !(*known == graph.value(from).type);
  }
  const bool adds_data = !value.data && graph.value(from).data;
  if (adds_data || (known && !(value.type == *known))) journal.refining(to);
  if (!graph.replace_all_uses(from, to)) return "the replacement would make a cycle";
  // The new value gets the name of the one it stands for, so that values can be compared across a rewrite.
  if (value.name.empty()) {
    graph.hand_over_name(from, to);
    journal.name_handed_over(from, to);
  }
  if (known && value.kind == Value::Kind::result && !(value.type == *known)) graph.set_type(to, std::move(*known));
  if (adds_data) graph.set_data(to, graph.value(from).data);
  if (learns) reinfer_users(graph, to, journal);
  return {};
}

}  // namespace tenon::rewrite
