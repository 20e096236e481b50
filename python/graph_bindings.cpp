// SPDX-License-Identifier: Apache-2.0
// Graphs: reading and writing models, looking around, running by reference.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "compiler/plugins.h"
#include "convert.h"
#include "handles.h"
#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "import/onnx_schema.h"
#include "ir/dot.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/core/unknown.h"
#include "ops/reference/evaluate.h"
#include "plugins/environment.h"

namespace tenon::python {
namespace {

GraphPtr graph_of(import::Imported imported) {
  for (const std::string& warning : imported.warnings) PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 1);
  if (PyErr_Occurred()) throw nb::python_error();
  return std::make_shared<PyGraph>(std::move(imported.graph));
}

using Folder = std::optional<std::filesystem::path>;
using Files = std::vector<std::filesystem::path>;

const ir::OpTable& table_for(bool keep_unknown, const Files& plugins) {
  const ir::OpTable& known = *unwrap(compiler::load_plugins(with_environment(plugins))).ops;
  return keep_unknown ? ops::table_with_unknown_ops(known) : known;
}

import::ImportOptions import_options(const Folder& external_data, bool keep_unknown, bool weights_by_reference, const Files& plugins) {
  import::ImportOptions options;
  options.ops = &table_for(keep_unknown, plugins);
  options.metadata = true;
  options.keep_unknown = keep_unknown;
  options.weights_by_reference = weights_by_reference;
  if (external_data) options.external_data_dir = *external_data;
  return options;
}

GraphPtr from_onnx_bytes(const nb::bytes& model, const Folder& external_data, bool keep_unknown, bool weights_by_reference,
                         const Files& plugins) {
  const import::ImportOptions options = import_options(external_data, keep_unknown, weights_by_reference, plugins);
  const std::span bytes(reinterpret_cast<const std::byte*>(model.c_str()), model.size());
  // The bytes live as long as the weights that point into them.
  const std::shared_ptr<const void> keeper = hold(nb::object(model));
  auto imported = [&] {
    const nb::gil_scoped_release released;
    return import::import_onnx(bytes, keeper, options);
  }();
  return graph_of(unwrap(std::move(imported)));
}

GraphPtr from_onnx_file(const std::filesystem::path& path, const Folder& external_data, bool keep_unknown, bool weights_by_reference,
                        const Files& plugins) {
  const import::ImportOptions options = import_options(external_data, keep_unknown, weights_by_reference, plugins);
  auto imported = [&] {
    const nb::gil_scoped_release released;
    return import::import_onnx(path, options);
  }();
  return graph_of(unwrap(std::move(imported)));
}

nb::bytes to_onnx(const PyGraph& graph, std::optional<int64_t> opset) {
  const ir::Graph& g = graph.get();
  import::ExportOptions options;
  options.opset = opset;
  nb::object out;
  const auto allocate = [&](size_t size) {
    const nb::gil_scoped_acquire acquired;
    out = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!out.is_valid()) PyErr_Clear();
    return out.is_valid() ? PyBytes_AsString(out.ptr()) : nullptr;
  };
  auto written = [&] {
    const GraphOwnerScope occupied(graph.root());
    const nb::gil_scoped_release released;
    return import::export_onnx_into(g, allocate, options);
  }();
  unwrap(std::move(written));
  return nb::borrow<nb::bytes>(out);
}

int64_t save_onnx(const PyGraph& graph, const std::filesystem::path& path, std::optional<int64_t> opset, bool external_data) {
  const ir::Graph& g = graph.get();
  import::ExportOptions options;
  options.opset = opset;
  options.external_data = external_data;
  auto exported = [&] {
    const GraphOwnerScope occupied(graph.root());
    const nb::gil_scoped_release released;
    return import::export_onnx(g, path, options);
  }();
  return unwrap(std::move(exported)).opset;
}

/// A list for a sequence; None for an optional that is empty.
Tensor value_of(nb::handle given, const ir::Type& type) {
  ir::Type inner = type;
  if (type.is_optional()) {
    inner.kind = type.kind == ir::Type::Kind::optional ? ir::Type::Kind::tensor : ir::Type::Kind::sequence;
    return Tensor::of_elements(DType::optional, given.is_none() ? std::vector<Tensor>() : std::vector{value_of(given, inner)});
  }
  if (!type.is_sequence() || !(PyList_Check(given.ptr()) || PyTuple_Check(given.ptr()))) return tensor_of(given, type.dtype);
  inner.kind = ir::Type::Kind::tensor;
  std::vector<Tensor> elements;
  for (nb::handle element : given) elements.push_back(value_of(element, inner));
  return Tensor::of_elements(DType::sequence, std::move(elements));
}

std::vector<Tensor> inputs_of(const ir::Graph& g, nb::handle inputs) {
  std::vector<Tensor> out;
  size_t k = 0;
  for (ir::ValueId id : g.inputs()) {
    const ir::Value& v = g.value(id);
    const nb::object given = PyDict_Check(inputs.ptr()) ? nb::borrow(PyDict_GetItemString(inputs.ptr(), v.name.c_str()))
                             : k < nb::len(inputs)      ? nb::object(inputs[k])
                                                        : nb::object();
    if (!given.is_valid() && v.has_default()) {
      out.emplace_back();
      ++k;
      continue;
    }
    if (!given.is_valid()) raise(fail(Code::bad_input, "input '" + v.name + "'", "this input is missing").expected(v.type.text()));
    out.push_back(value_of(given, v.type));
    ++k;
  }
  return out;
}

nb::dict evaluate(const PyGraph& graph, nb::handle inputs) {
  const ir::Graph& g = graph.get();
  const std::vector<Tensor> given = inputs_of(g, inputs);
  auto results = [&] {
    const GraphOwnerScope occupied(graph.root());
    const nb::gil_scoped_release released;
    return ops::evaluate(g, given);
  }();
  const std::vector<Tensor> tensors = unwrap(std::move(results));
  nb::dict out;
  for (uint32_t k = 0; k < tensors.size(); ++k) out[g.output_name(k).c_str()] = numpy_of(tensors[k]);
  return out;
}

std::vector<std::string> output_names(const PyGraph& graph) {
  const ir::Graph& g = graph.get();
  std::vector<std::string> out;
  for (uint32_t k = 0; k < g.outputs().size(); ++k) out.push_back(g.output_name(k));
  return out;
}

nb::list nodes_of(const GraphPtr& graph) {
  nb::list out;
  for (ir::NodeId id : graph->get().nodes()) out.append(NodeRef{graph, id});
  return out;
}

void bind_models(nb::class_<PyGraph>& graph) {
  graph
      .def_static("from_onnx", &from_onnx_bytes, nb::arg("model"), nb::kw_only(), nb::arg("external_data") = nb::none(),
                  nb::arg("keep_unknown") = false, nb::arg("weights_by_reference") = false, nb::arg("plugins") = Files())
      .def_static("from_onnx", &from_onnx_file, nb::arg("model"), nb::kw_only(), nb::arg("external_data") = nb::none(),
                  nb::arg("keep_unknown") = false, nb::arg("weights_by_reference") = false, nb::arg("plugins") = Files())
      .def_static(
          "parse",
          [](const std::string& text, bool keep_unknown, const Files& plugins) {
            return std::make_shared<PyGraph>(unwrap(ir::parse(text, table_for(keep_unknown, plugins))));
          },
          nb::arg("text"), nb::kw_only(), nb::arg("keep_unknown") = false, nb::arg("plugins") = Files())
      .def("to_onnx", &to_onnx, nb::kw_only(), nb::arg("opset") = nb::none())
      .def("save_onnx", &save_onnx, nb::arg("path"), nb::kw_only(), nb::arg("opset") = nb::none(), nb::arg("external_data") = false)
      .def("__str__", [](const PyGraph& g) { return ir::print(g.get()); })
      .def(
          "dot", [](const PyGraph& g, bool collapse) { return ir::dot(g.get(), {.collapse = collapse, .color_group = {}}); }, nb::kw_only(),
          nb::arg("collapse") = true)
      .def("evaluate", &evaluate, nb::arg("inputs"))
      .def("verify", [](const PyGraph& g) { unwrap(ir::verify(g.get())); });
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<PyGraph> graph(m, "Graph");
  graph
      .def(
          "__init__",
          [](PyGraph* self, bool keep_unknown, const Files& plugins) {
            new (self) PyGraph(std::make_unique<ir::Graph>(table_for(keep_unknown, plugins)));
          },
          nb::kw_only(), nb::arg("keep_unknown") = false, nb::arg("plugins") = Files())
      .def_prop_ro("keeps_unknown", [](const PyGraph& g) { return ops::has_unknown_ops(g.get().ops()); })
      .def("clone",
           [](const PyGraph& g) {
             if (g.outer()) raise(fail(Code::bad_usage, "graph", "only whole graphs are cloned, not bodies"));
             return std::make_shared<PyGraph>(g.get().clone());
           })
      .def_prop_rw(
          "name", [](const PyGraph& g) { return g.get().name; }, [](const PyGraph& g, std::string name) { g.get().name = std::move(name); })
      .def_prop_rw(
          "opsets", [](const PyGraph& g) { return g.get().opsets; },
          [](const PyGraph& g, std::vector<std::pair<std::string, int64_t>> opsets) { g.restructure().opsets = std::move(opsets); })
      .def_prop_ro("outer", [](const PyGraph& g) { return g.outer(); })
      .def_prop_ro("inputs", [](const GraphPtr& g) { return list_of(g, g->get().inputs()); })
      .def_prop_ro("outputs", [](const GraphPtr& g) { return list_of(g, g->get().outputs()); })
      .def_prop_ro("output_names", &output_names)
      .def_prop_ro("nodes", &nodes_of)
      .def_prop_ro("values", [](const GraphPtr& g) { return list_of(g, g->get().values()); })
      .def(
          "find", [](const GraphPtr& g, const std::string& name) { return object_of(g, g->get().find_value(name)); }, nb::arg("name"))
      .def(
          "unique_name", [](const PyGraph& g, const std::string& stem) { return g.get().unique_name(stem); }, nb::arg("stem"))
      .def("__len__", [](const PyGraph& g) { return g.get().node_count(); })
      .def("__eq__", [](const PyGraph& a, const PyGraph& b) { return a.same(b); })
      .def(
          "__eq__", [](const PyGraph&, nb::object) { return false; }, nb::arg().none())
      .def("__hash__", [](const PyGraph& g) { return std::hash<const void*>()(&g.get()); })
      .def("__repr__", [](const PyGraph& g) { return "<Graph " + g.get().name + ": " + std::to_string(g.get().node_count()) + " nodes>"; });
  m.attr("newest_opset") = import::schema::kNewestOpset;
  bind_models(graph);
  bind_graph_edits(graph);
}

}  // namespace tenon::python
