// SPDX-License-Identifier: Apache-2.0
// The extension tenon_runtime._tenon_runtime: loads engines and runs them; no compiler inside.
#include <nanobind/nanobind.h>

#include "docstrings.h"
#include "engine_bindings.h"
#include "package_name.h"

const char* const tenon_python::kPackageName = "tenon_runtime";

NB_MODULE(_tenon_runtime, m) {
  tenon::python::document_functions();
  nanobind::set_leak_warnings(false);  // an exception that ends the program keeps its frames alive
  tenon_python::bind_engine(m);
  tenon::python::document_classes(m);
}
