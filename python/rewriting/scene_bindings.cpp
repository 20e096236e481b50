// SPDX-License-Identifier: Apache-2.0
// tenon._tenon.Scene: the most frequent queries of patterns, answered without a detour through Python.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "convert.h"
#include "ops/core/op.h"
#include "rewriting/scene.h"

namespace tenon::python {
namespace {

using Name = std::string_view;

bool has_known_sizes(const ir::Type& type) {
  return type.shape && std::ranges::none_of(*type.shape, [](Dim d) { return d.is_overflow(); });
}

nb::object shape_or_none(Scene& scene, Name name) {
  const ir::Value* value = scene.value_named(name);
  return value ? shape_of(value->type) : nb::none();
}

/// The opset in which the operator got the form that nodes have here; 0 where it always had it, for other domains and unknown ones.
int64_t opset_of_form(const std::string& op_type, const std::string& domain) {
  const ir::Op* op = domain.empty() ? ops::table().find({}, op_type) : nullptr;
  return op && ops::def_of(*op).downgrade ? ops::def_of(*op).since_version : 0;
}

}  // namespace

void bind_scene(nb::module_& m) {
  m.def("opset_of_form", &opset_of_form, nb::arg("op_type"), nb::arg("domain") = "");
  nb::class_<Scene>(m, "Scene")
      .def(nb::init<GraphPtr, nb::object, nb::object>(), nb::arg("graph"), nb::arg("make"), nb::arg("fill"))
      .def_prop_ro("graph", &Scene::graph)
      .def("object_of", [](Scene& s, const NodeRef& node) { return s.object_of(id_in(*s.graph(), node)); })
      .def("node_of", &Scene::node_of)
      .def("objects", &Scene::objects)
      .def("node_before", &Scene::node_before)
      .def("next_nodes", &Scene::next_nodes)
      .def("find",
           [](Scene& s, Name name) {
             s.value_named(name);
             return object_of(s.graph(), s.find(name));
           })
      .def("is_output", &Scene::is_output)
      .def("is_used", &Scene::is_used)
      .def("is_used_by_subgraph", &Scene::is_captured)
      .def("is_used_more_than_once", &Scene::is_used_more_than_once)
      .def("has_type",
           [](Scene& s, Name name) {
             const ir::Value* value = s.value_named(name);
             return value && value->type.dtype != DType::none;
           })
      .def("has_rank",
           [](Scene& s, Name name) {
             const ir::Value* value = s.value_named(name);
             return value && value->type.has_rank();
           })
      .def("has_shape",
           [](Scene& s, Name name) {
             const ir::Value* value = s.value_named(name);
             return value && has_known_sizes(value->type);
           })
      .def("type_of",
           [](Scene& s, Name name) {
             const ir::Value* value = s.value_named(name);
             return value ? static_cast<int>(value->type.dtype) : 0;
           })
      .def("shape_of", &shape_or_none)
      .def("is_constant",
           [](Scene& s, Name name) {
             const ir::Value* value = s.value_named(name);
             return value && (value->is_constant() || (value->producer && is_computable({s.graph(), s.find(name)})));
           })
      .def("begin_sweep", &Scene::begin_sweep)
      .def("looks_everywhere", &Scene::looks_everywhere)
      .def("match_nodes", &Scene::match_nodes, nb::arg("pattern"), nb::arg("op_types"), nb::arg("match"), nb::arg("view"),
           nb::arg("matched"));
}

}  // namespace tenon::python
