// SPDX-License-Identifier: Apache-2.0
// The extension tenon._tenon: compiles and runs.
#include <nanobind/nanobind.h>

#include "compile_bindings.h"
#include "docstrings.h"
#include "engine_bindings.h"
#include "package_name.h"

namespace nb = nanobind;

namespace tenon_python {
const char* const kPackageName = "tenon";
void bind_language(nanobind::module_& m);
void bind_build_config(nanobind::module_& m);
}  // namespace tenon_python

namespace tenon::python {
void bind_cut(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_nodes(nanobind::module_& m);
void bind_plugins(nanobind::module_& m);
void bind_rewrite(nanobind::module_& m);
void bind_scene(nanobind::module_& m);
void bind_time(nanobind::module_& m);
}  // namespace tenon::python

NB_MODULE(_tenon, m) {
  tenon::python::document_functions();
  nb::set_leak_warnings(false);  // an exception that ends the program keeps its frames alive
  tenon_python::bind_engine(m);
  tenon_python::bind_compile(m);
  tenon_python::bind_language(m);
  tenon_python::bind_build_config(m);
  tenon::python::bind_cut(m);
  tenon::python::bind_nodes(m);
  tenon::python::bind_graph(m);
  tenon::python::bind_rewrite(m);
  tenon::python::bind_scene(m);
  tenon::python::bind_time(m);
  tenon::python::bind_plugins(m);
  tenon::python::document_classes(m);
}
