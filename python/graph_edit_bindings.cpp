// SPDX-License-Identifier: Apache-2.0
// Bindings of functions that change a graph.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "convert.h"
#include "handles.h"
#include "ir/port_names.h"
#include "ir/size_names.h"
#include "new_node.h"
#include "rewrite/driver/driver.h"

namespace tenon::python {
namespace {

/// None: the end of the graph.
ir::NodeId place_of(const PyGraph& graph, const std::optional<NodeRef>& before, const std::optional<NodeRef>& after) {
  if (before && after) raise(fail(Code::bad_usage, "insert", "a node has one place").expected("before or after"));
  if (before) return id_in(graph, *before);
  return after ? graph.get().next(id_in(graph, *after)) : ir::NodeId{};
}

NodeRef insert(const GraphPtr& graph, const std::string& op_type, nb::iterable inputs, const nb::dict& attributes, const nb::dict& bodies,
               int outputs, const std::optional<NodeRef>& before, const std::optional<NodeRef>& after, const std::string& domain,
               const std::string& name, const ResultNames& names, bool infer) {
  const NewNode wanted{op_type, domain, inputs, attributes, bodies, outputs, names, infer};
  const ir::NodeId node = make_node(*graph, wanted, place_of(*graph, before, after));
  if (!name.empty()) graph->get().set_name(node, name);
  return {graph, node};
}

ValueRef add_constant(const GraphPtr& graph, nb::handle array, std::string name, nb::handle dtype) {
  ir::Graph& g = graph->edit();
  return {graph, g.add_constant(ir::constant_of(tensor_of(array, dtype_of(dtype))), std::move(name))};
}

ValueRef add_input(const GraphPtr& graph, std::string name, nb::handle dtype, nb::handle shape) {
  ir::Graph& g = graph->edit();
  if (!graph->outer()) unwrap(ir::check_new_input(g, name));
  return {graph, g.add_input(std::move(name), type_of(g.symbols(), dtype, shape))};
}

uint32_t slot_in(size_t count, int64_t slot, const char* what) {
  if (slot < 0 || slot >= static_cast<int64_t>(count))
    raise(fail(Code::index_out_of_range, what, std::string("there is no such ") + what)
              .expected("0 to " + std::to_string(count - 1))
              .found(std::to_string(slot)));
  return static_cast<uint32_t>(slot);
}

/// Without a name, an output takes the value's.
void add_output(const PyGraph& graph, const ValueRef& value, const std::string& name) {
  ir::Graph& g = graph.restructure();
  const ir::ValueId id = id_in(graph, value);
  const std::string& name_of_output = name.empty() ? ensure_name(value) : name;
  if (!graph.outer()) unwrap(ir::check_new_output(g, name_of_output));
  g.add_output(id, name_of_output);
}

/// Declares names for the symbolic sizes of a value, axis by axis; None: no name for this axis.
void name_sizes(const PyGraph& graph, const ValueRef& value, const std::vector<std::optional<std::string>>& declared) {
  ir::Graph& g = graph.restructure();
  const auto shape = g.value(id_in(graph, value)).type.shape;
  if (graph.outer() || !shape || shape->size() != declared.size()) return;
  ir::SizeNames names(g);
  for (size_t k = 0; k < declared.size(); ++k)
    if (declared[k]) names.declare((*shape)[k], *declared[k]);
  names.apply();
}

void set_output_name(const PyGraph& graph, int64_t slot, std::string name) {
  ir::Graph& g = graph.restructure();
  const uint32_t k = slot_in(g.outputs().size(), slot, "output");
  if (g.output_name(k) == name) return;
  if (!graph.outer()) unwrap(ir::check_new_output(g, name));
  g.set_output_name(k, std::move(name));
}

void erase_node(const PyGraph& graph, const NodeRef& node) {
  ir::Graph& g = graph.restructure();
  const ir::NodeId id = id_in(graph, node);
  for (ir::ValueId output : g.node(id).outputs)
    if (output && !g.value(output).uses.empty())
      raise(fail(Code::bad_usage, "node", "a result of this node is still used").found(g.value(output).name));
  g.erase(id);
}

void erase_value(const PyGraph& graph, const ValueRef& value) {
  ir::Graph& g = graph.restructure();
  const ir::ValueId id = id_in(graph, value);
  if (g.value(id).kind == ir::Value::Kind::result || !g.value(id).uses.empty())
    raise(fail(Code::bad_usage, "value", "only unused inputs and constants can be erased").found(g.value(id).name));
  g.erase_value(id);
}

}  // namespace

void bind_graph_edits(nb::class_<PyGraph>& graph) {
  graph
      .def("insert", &insert, nb::arg("op_type"), nb::arg("inputs"), nb::arg("attributes") = nb::dict(), nb::kw_only(),
           nb::arg("bodies") = nb::dict(), nb::arg("outputs") = -1, nb::arg("before") = nb::none(), nb::arg("after") = nb::none(),
           nb::arg("domain") = "", nb::arg("name") = "", nb::arg("names") = ResultNames(), nb::arg("infer") = true)
      .def("add_input", &add_input, nb::arg("name"), nb::arg("dtype") = nb::none(), nb::arg("shape") = nb::none())
      .def("add_constant", &add_constant, nb::arg("array"), nb::arg("name") = "", nb::kw_only(), nb::arg("dtype") = nb::none())
      .def("add_output", &add_output, nb::arg("value"), nb::arg("name") = "")
      .def(
          "set_output",
          [](const PyGraph& g, int64_t slot, const ValueRef& value) {
            ir::Graph& edited = g.edit();
            edited.set_output(slot_in(edited.outputs().size(), slot, "output"), id_in(g, value));
          },
          nb::arg("slot"), nb::arg("value"))
      .def("name_sizes", &name_sizes, nb::arg("value"), nb::arg("names"))
      .def("set_output_name", &set_output_name, nb::arg("slot"), nb::arg("name"))
      .def(
          "erase_output",
          [](const PyGraph& g, int64_t slot) {
            ir::Graph& edited = g.restructure();
            edited.erase_output(slot_in(edited.outputs().size(), slot, "output"));
          },
          nb::arg("slot"))
      .def(
          "replace_all_uses",
          [](const PyGraph& g, const ValueRef& from, const ValueRef& to, const std::optional<NodeRef>& except) {
            return g.edit().replace_all_uses(id_in(g, from), id_in(g, to), except ? id_in(g, *except) : ir::NodeId{});
          },
          nb::arg("old"), nb::arg("new"), nb::kw_only(), nb::arg("except_by") = nb::none())
      .def("erase", &erase_node, nb::arg("node"))
      .def("erase", &erase_value, nb::arg("value"))
      .def("remove_dead", [](const PyGraph& g) { return rewrite::eliminate_dead_code(g.restructure()); })
      .def("infer", [](const PyGraph& g) { unwrap(ir::infer_all(g.edit())); });
}

}  // namespace tenon::python
