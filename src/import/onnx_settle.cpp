// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_settle.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ops/op.h"

namespace tenon::import {
namespace {

/// What both types allow: equal sizes stay, others become a new symbol, other ranks leave the rank open. `free`: a bit for each
/// dimension that has become a symbol of its own already, and so stands for any size.
ir::Type join(const ir::Type& a, const ir::Type& b, Symbols& symbols, uint64_t& free) {
  ir::Type out = a;
  if (!a.shape || !b.shape || a.rank() != b.rank() || a.rank() > 64) {
    out.shape.reset();
    return out;
  }
  for (int i = 0; i < a.rank(); ++i) {
    if ((free >> i & 1) || a.dim(i).known_equal(b.dim(i))) continue;
    (*out.shape)[i] = symbols.fresh();
    free |= uint64_t{1} << i;
  }
  return out;
}

ir::Type without_axis(ir::Type type, int64_t axis) {
  if (!type.shape) return type;
  const int rank = type.rank();
  if (axis < 0) axis += rank;
  if (axis >= 0 && axis < rank) type.shape->erase(type.shape->begin() + axis);
  return type;
}

void set_input(ir::Graph& body, size_t index, const ir::Type& type) {
  if (index < body.inputs().size()) body.set_type(body.inputs()[index], type);
}

/// Types of the formal inputs as the operands give them before the first iteration; and which operand feeds each body output.
struct Carried {
  size_t first_input = 0;    ///< body input of the first carried value
  size_t first_output = 0;   ///< body output of the first carried value
  size_t first_operand = 0;
  size_t count = 0;
  std::vector<uint64_t> free = std::vector<uint64_t>(count);
};

Carried carried_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const size_t operands = node.explicit_inputs;
  if (node.is("Loop")) return {.first_input = 2, .first_output = 1, .first_operand = 2, .count = operands < 2 ? 0 : operands - 2};
  const auto scanned = static_cast<size_t>(std::max<int64_t>(0, node.attributes.integer("num_scan_inputs", 0)));
  return {.count = operands < scanned ? 0 : operands - scanned};
}

ir::Type operand_type(const ir::Graph& graph, const ir::Node& node, size_t slot) {
  return slot < node.inputs.size() && node.inputs[slot] ? graph.value(node.inputs[slot]).type : ir::Type{};
}

void seed_formals(ir::Graph& graph, ir::NodeId id, ir::Graph& body, const Carried& carried) {
  const ir::Node& node = graph.node(id);
  if (node.is("Loop")) {
    set_input(body, 0, ir::Type(DType::i64, {}));
    set_input(body, 1, ir::Type(DType::boolean, {}));
  }
  for (size_t i = 0; i < carried.count; ++i) set_input(body, carried.first_input + i, operand_type(graph, node, carried.first_operand + i));
  if (node.is("Loop")) return;
  const ir::Ints axes = node.attributes.ints("scan_input_axes");
  for (size_t slot = carried.count; slot < node.explicit_inputs; ++slot) {
    const size_t k = slot - carried.count;
    set_input(body, slot, without_axis(operand_type(graph, node, slot), k < axes.size() ? axes[k] : 0));
  }
}

int64_t nodes_in(const ir::Graph& graph) {
  int64_t count = static_cast<int64_t>(graph.node_count());
  for (ir::NodeId id : graph.nodes())
    for (const ir::Body& body : graph.node(id).bodies) count += nodes_in(*body.graph);
  return count;
}

/// Widens the carried inputs to what the outputs bring back. False: nothing changed, the types hold for every iteration.
bool widen(ir::Graph& body, Carried& carried) {
  bool changed = false;
  for (size_t i = 0; i < carried.count; ++i) {
    const size_t in = carried.first_input + i, out = carried.first_output + i;
    if (in >= body.inputs().size() || out >= body.outputs().size()) break;
    const ir::Type& before = body.value(body.inputs()[in]).type;
    ir::Type joined = join(before, body.value(body.outputs()[out]).type, body.symbols(), carried.free[i]);
    if (joined == before) continue;
    body.set_type(body.inputs()[in], std::move(joined));
    changed = true;
  }
  return changed;
}

}  // namespace

Result<void> Settler::settle(ir::Graph& graph) {
  visits_left_ = kMinVisits + kVisitsPerNode * nodes_in(graph);
  return settle_nodes(graph);
}

Result<void> Settler::settle_nodes(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) TRY(settle(graph, id));
  return {};
}

Result<void> Settler::settle(ir::Graph& graph, ir::NodeId id) {
  if (--visits_left_ < 0)
    return fail(Code::limit_exceeded, graph.view(id).where(), "loops within loops change their shapes too often to be typed")
        .expected(fmt::format("at most {} inferences a node", kVisitsPerNode));
  auto& versions = notes_.graphs[&graph].versions;
  if (auto at = versions.find(id); at != versions.end()) {
    const int version = at->second;
    versions.erase(at);
    TRY(ops::def_of(*graph.node(id).op).upgrade(graph, id, version));
    if (!graph.alive(id)) return {};
  }
  TRY(settle_bodies(graph, id));
  TRY(ir::infer(graph, id));
  return use_hints(graph, id);
}

Result<void> Settler::settle_bodies(ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.bodies.empty()) return {};
  for (size_t k = 0; k < node.bodies.size(); ++k) {
    ir::Graph& body = graph.body(id, k);
    const ir::Body& info = node.bodies[k];
    const size_t formals = body.inputs().size() - info.captures;
    for (size_t i = 0; i < info.captures; ++i) {
      const ir::Value& outside = graph.value(node.inputs[info.first_capture + i]);
      body.set_type(body.inputs()[formals + i], outside.type);
      body.set_data(body.inputs()[formals + i], outside.data);
    }
  }
  if (node.is("Loop") || node.is("Scan")) return settle_loop(graph, id);
  for (size_t k = 0; k < node.bodies.size(); ++k) TRY(settle_nodes(graph.body(id, k)));
  return {};
}

/// Ends: a dimension or a rank is given up at most once. The budget ends what nested loops make of that.
Result<void> Settler::settle_loop(ir::Graph& graph, ir::NodeId id) {
  ir::Graph& body = graph.body(id, 0);
  Carried carried = carried_of(graph, id);
  seed_formals(graph, id, body, carried);
  do TRY(settle_nodes(body));
  while (widen(body, carried));
  return {};
}

Result<void> Settler::use_hints(ir::Graph& graph, ir::NodeId id) {
  for (ir::ValueId value : graph.node(id).outputs) {
    if (!value) continue;
    const ir::Value& v = graph.value(value);
    if (v.type.dtype != DType::none && v.type.shape) continue;
    auto& hints = notes_.graphs[&graph].hints;
    auto at = hints.find(v.name);
    if (at == hints.end()) continue;
    auto hint = types_.type(*at->second, v.name);
    if (!hint) continue;
    ir::Type merged = v.type;
    if (merged.dtype == DType::none) merged = *hint;
    else if (!merged.shape && merged.dtype == hint->dtype) merged.shape = hint->shape;
    graph.set_type(value, std::move(merged));
  }
  return {};
}

Result<std::vector<std::string>> Settler::check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < declared.size(); ++i) {
    const std::string where = fmt::format("output '{}'", declared[i].name);
    const ir::Type& found = graph.value(graph.outputs()[i]).type;
    auto type = types_.type(declared[i].type, declared[i].name);
    if (!type) return std::move(type).error().at(where);
    if (type->dtype != DType::none && found.dtype != DType::none && type->dtype != found.dtype)
      return fail(Code::dtype_mismatch, where, "the declared element type is not the computed one").expected(type->text()).found(found.text());
    if (!type->shape || !found.shape) continue;
    bool fits = type->rank() == found.rank();
    for (int k = 0; fits && k < found.rank(); ++k) fits = type->dim(k).equals(found.dim(k)) != std::optional(false) || !type->dim(k).is_number();
    if (!fits) warnings.push_back(fmt::format("{}: declared as {}, computed as {}", where, type->text(), found.text()));
  }
  return warnings;
}

Result<void> name_outputs(ir::Graph& graph, const std::vector<OnnxValueInfo>& names) {
  std::unordered_set<std::string_view> taken;
  ir::Builder build(graph);
  for (uint32_t slot = 0; slot < names.size(); ++slot) {
    const std::string name(names[slot].name);
    const ir::ValueId value = graph.outputs()[slot];
    if (!taken.insert(names[slot].name).second) return fail(Code::bad_graph, fmt::format("output '{}'", name), "two outputs have one name");
    if (graph.value(value).name == name) continue;
    if (const ir::ValueId holder = graph.find_value(name)) graph.set_name(holder, graph.unique_name(name));
    const bool shared = std::ranges::any_of(graph.value(value).uses, [&](const ir::Use& u) { return u.is_output() && u.slot != slot; });
    if (graph.value(value).kind == ir::Value::Kind::result && !shared) {
      graph.set_name(value, name);
      continue;
    }
    const ir::ValueId copy = build("Identity", {value});
    TRY(Result<void>(build.status()));
    graph.set_output(slot, copy);
    graph.set_name(copy, name);
  }
  return {};
}

}  // namespace tenon::import
