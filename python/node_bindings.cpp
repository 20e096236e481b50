// SPDX-License-Identifier: Apache-2.0
// Nodes and values.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "convert.h"
#include "handles.h"
#include "ir/port_names.h"

namespace tenon::python {
namespace {

std::span<const ir::ValueId> explicit_inputs(const ir::Node& node) { return {node.inputs.begin(), node.explicit_inputs}; }

nb::dict attributes(const NodeRef& node) {
  nb::dict out;
  for (const auto& [name, value] : resolve(node).attributes) out[name.c_str()] = python_of(value);
  return out;
}

/// (attribute, graph, captures: how many of its last inputs are outer values) of each.
nb::list bodies(const NodeRef& node) {
  nb::list out;
  for (size_t k = 0; k < resolve(node).bodies.size(); ++k) {
    const ir::Body& body = resolve(node).bodies[k];
    out.append(nb::make_tuple(body.name, std::make_shared<PyGraph>(node.graph, node.id, k), body.captures));
  }
  return out;
}

/// (rule, source nodes); None where the node was read from a model.
nb::object provenance(const NodeRef& node) {
  const auto& p = resolve(node).provenance;
  if (!p || p->rule.empty()) return nb::none();
  return nb::make_tuple(p->rule, p->sources);
}

/// The node's metadata_props in the source model.
nb::dict metadata(const NodeRef& node) {
  nb::dict out;
  if (const auto& p = resolve(node).provenance)
    for (const auto& [key, value] : p->metadata) out[key.c_str()] = value;
  return out;
}

void set_operand(const NodeRef& node, int64_t slot, nb::handle value) {
  ir::Graph& g = node.graph->edit();
  const ir::Node& n = resolve(node);
  const auto count = static_cast<int64_t>(n.explicit_inputs);
  const bool one_more = slot == count && n.inputs.size() == n.explicit_inputs;
  if (slot < 0 || (slot >= count && !one_more))
    raise(fail(Code::index_out_of_range, "operand", "there is no such operand")
              .expected("0 to " + std::to_string(count - 1))
              .found(std::to_string(slot)));
  const ir::ValueId operand = operand_in(*node.graph, value);
  if (operand && !g.is_defined_before(operand, node.id))
    raise(fail(Code::bad_graph, g.value(operand).name, "this operand comes after the node")
              .advice("use replace_all_uses, which moves nodes"));
  g.set_operand(node.id, static_cast<uint32_t>(slot), operand);
}

void set_attribute(const NodeRef& node, const std::string& name, nb::handle value) {
  ir::Graph& g = node.graph->edit();
  if (value.is_none()) g.erase_attribute(id_in(*node.graph, node), name);
  else g.set_attribute(id_in(*node.graph, node), name, attribute_of(*resolve(node).op, name, value));
}

/// Callers pass the inputs of a root graph by name; all other names are made unique where they are taken.
void set_name(const ValueRef& value, std::string name) {
  const ir::ValueId id = id_in(*value.graph, value);
  if (resolve(value).kind == ir::Value::Kind::input && resolve(value).name != name && !value.graph->outer())
    unwrap(ir::check_new_input(value.graph->get(), name));
  value.graph->get().set_name(id, std::move(name));
}

/// While rules run only a new result of an unknown node may get a type: undoing takes the node away, and its type with it.
void set_type(const ValueRef& value, nb::handle dtype, nb::handle shape) {
  const ir::Value& v = resolve(value);
  const bool is_undeclared = v.kind == ir::Value::Kind::result && v.uses.empty() && value.graph->get().node(v.producer).op->unknown;
  ir::Graph& g = is_undeclared ? value.graph->edit() : value.graph->restructure();
  g.set_type(id_in(*value.graph, value), type_of(g.symbols(), dtype, shape));
}

nb::list uses(const ValueRef& value) {
  nb::list out;
  for (const ir::Use& use : resolve(value).uses) out.append(nb::make_tuple(object_of(value.graph, use.node), use.slot));
  return out;
}

/// Each once, in the graph's order.
std::vector<ir::NodeId> user_ids(const ValueRef& value) {
  std::vector<ir::NodeId> out;
  for (const ir::Use& use : resolve(value).uses)
    if (use.node && std::ranges::find(out, use.node) == out.end()) out.push_back(use.node);
  const ir::Graph& g = value.graph->get();
  std::ranges::sort(out, [&](ir::NodeId a, ir::NodeId b) { return g.is_before(a, b); });
  return out;
}

bool is_captured(const ValueRef& value) {
  const ir::Graph& g = value.graph->get();
  return std::ranges::any_of(resolve(value).uses,
                             [&](const ir::Use& use) { return use.node && use.slot >= g.node(use.node).explicit_inputs; });
}

/// Where the bytes of a constant lie that were not read: (location, offset, length); None where they are there.
nb::object reference_of(const ValueRef& value) {
  const ir::Value& v = resolve(value);
  const auto* bytes = v.is_constant() ? v.constant->unread() : nullptr;
  if (!bytes) return nb::none();
  return nb::make_tuple(bytes->location, bytes->offset, v.constant->byte_size());
}

nb::object array_of(const ValueRef& value) {
  const ir::Value& v = resolve(value);
  if (!v.is_constant()) raise(fail(Code::bad_usage, v.name, "only constants have an array"));
  auto tensor = ir::materialise(*v.constant);
  if (!tensor) raise(std::move(tensor).error().at("constant '" + v.name + "'"));
  return numpy_of(unwrap(std::move(tensor)));
}

/// The known elements of a small integer value: ints, and symbolic sizes as texts.
nb::object elements_of(const ValueRef& value) {
  const auto& data = resolve(value).data;
  if (!data) return nb::none();
  ir::Type as_shape;
  as_shape.shape = *data;
  return shape_of(as_shape);
}

const char* kind_of(const ValueRef& value) {
  switch (resolve(value).kind) {
    case ir::Value::Kind::input: return "input";
    case ir::Value::Kind::constant: return "constant";
    case ir::Value::Kind::result: return "result";
  }
  return "";
}

template <class R>
nb::class_<R> bind_handle(nb::module_& m, const char* name) {
  nb::class_<R> type(m, name);
  type.def_prop_ro("graph", [](const R& r) { return r.graph; })
      .def_prop_ro("alive", [](const R& r) { return r.alive(); })
      .def("__eq__", [](const R& a, const R& b) { return a == b; })
      .def(
          "__eq__", [](const R&, nb::object) { return false; }, nb::arg().none())
      .def("__hash__", [](const R& r) { return std::hash<uint32_t>()(r.id.bits); });
  return type;
}

void bind_node(nb::module_& m) {
  bind_handle<NodeRef>(m, "Node")
      .def_prop_ro("op_type", [](const NodeRef& n) { return resolve(n).op->name; })
      .def_prop_ro("domain", [](const NodeRef& n) { return resolve(n).op->domain; })
      .def_prop_rw(
          "name", [](const NodeRef& n) { return resolve(n).name; },
          [](const NodeRef& n, std::string name) { n.graph->get().set_name(id_in(*n.graph, n), std::move(name)); })
      .def_prop_ro("inputs", [](const NodeRef& n) { return list_of(n.graph, explicit_inputs(resolve(n))); })
      .def_prop_ro("captures",
                   [](const NodeRef& n) {
                     const ir::Node& node = resolve(n);
                     return list_of(n.graph,
                                    std::span<const ir::ValueId>(node.inputs.begin(), node.inputs.size()).subspan(node.explicit_inputs));
                   })
      .def_prop_ro("outputs", [](const NodeRef& n) { return list_of(n.graph, resolve(n).outputs); })
      .def_prop_ro("attributes", &attributes)
      .def_prop_ro("bodies", &bodies)
      .def_prop_ro("provenance", &provenance)
      .def_prop_ro("metadata", &metadata)
      .def_prop_ro("is_unknown", [](const NodeRef& n) { return resolve(n).op->unknown; })
      .def_prop_ro("commutative", [](const NodeRef& n) { return resolve(n).op->commutative; })
      .def_prop_ro("next", [](const NodeRef& n) { return object_of(n.graph, n.graph->get().next(id_in(*n.graph, n))); })
      .def_prop_ro("previous", [](const NodeRef& n) { return object_of(n.graph, n.graph->get().previous(id_in(*n.graph, n))); })
      .def("is_before", [](const NodeRef& a, const NodeRef& b) { return a.graph->get().is_before(id_in(*a.graph, a), id_in(*a.graph, b)); })
      .def("set_operand", &set_operand, nb::arg("slot"), nb::arg("value").none())
      .def("set_attribute", &set_attribute, nb::arg("name"), nb::arg("value").none())
      .def("infer", [](const NodeRef& n) { unwrap(ir::infer(n.graph->edit(), id_in(*n.graph, n))); })
      .def("__repr__", [](const NodeRef& n) -> std::string {
        if (!n.alive()) return "<Node: gone>";
        return "<Node " + resolve(n).op->name + (resolve(n).name.empty() ? "" : " '" + resolve(n).name + "'") + ">";
      });
}

}  // namespace

void bind_nodes(nb::module_& m) {
  bind_node(m);
  bind_handle<ValueRef>(m, "Value")
      .def_prop_rw(
          "name", [](const ValueRef& v) { return resolve(v).name; }, &set_name)
      .def("ensure_name", &ensure_name)
      .def_prop_ro("kind", &kind_of)
      .def_prop_ro("dtype",
                   [](const ValueRef& v) -> nb::object {
                     const DType dtype = resolve(v).type.dtype;
                     return dtype == DType::none ? nb::none() : nb::object(nb::str(std::string(name_of(dtype)).c_str()));
                   })
      .def_prop_ro("onnx_dtype", [](const ValueRef& v) { return static_cast<int>(resolve(v).type.dtype); })
      .def_prop_ro("is_tensor", [](const ValueRef& v) { return resolve(v).type.kind == ir::Type::Kind::tensor; })
      .def_prop_ro("shape", [](const ValueRef& v) { return shape_of(resolve(v).type); })
      .def_prop_ro("elements", &elements_of)
      .def_prop_ro("is_constant", [](const ValueRef& v) { return resolve(v).is_constant(); })
      .def_prop_ro("byte_size", [](const ValueRef& v) { return resolve(v).is_constant() ? resolve(v).constant->byte_size() : 0; })
      .def_prop_ro("reference", &reference_of)
      .def("array", &array_of)
      .def_prop_ro("is_computable", &is_computable)
      .def("compute", &computed)
      .def_prop_ro("producer", [](const ValueRef& v) { return object_of(v.graph, resolve(v).producer); })
      .def_prop_ro("index", [](const ValueRef& v) { return resolve(v).index; })
      .def_prop_ro("uses", &uses)
      .def_prop_ro("users", [](const ValueRef& v) { return list_of(v.graph, user_ids(v)); })
      .def_prop_ro("use_count", [](const ValueRef& v) { return resolve(v).uses.size(); })
      .def_prop_ro("is_output", [](const ValueRef& v) { return v.graph->get().is_output(id_in(*v.graph, v)); })
      .def_prop_ro("is_captured", &is_captured)
      .def("set_type", &set_type, nb::arg("dtype").none(), nb::arg("shape").none() = nb::none())
      .def("__repr__", [](const ValueRef& v) -> std::string {
        if (!v.alive()) return "<Value: gone>";
        return "<Value " + resolve(v).name + ": " + resolve(v).type.text() + ">";
      });
}

}  // namespace tenon::python
