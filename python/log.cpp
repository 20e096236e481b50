// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "package_name.h"

namespace tenon_python {

namespace nb = nanobind;

namespace {

nb::module_ log_module() { return nb::module_::import_((std::string(kPackageName) + "._log").c_str()); }

}  // namespace

void write_log(const std::string& text) {
  const nb::gil_scoped_acquire acquired;
  try {
    log_module().attr("write")(text);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    else error.discard_as_unraisable("tenon: a handler of the logger");
  }
}

bool is_logging() { return nb::cast<bool>(log_module().attr("enabled")()); }

std::function<void(std::string_view)> step_logger(const std::string& what) {
  if (!is_logging()) return nullptr;
  return [what](std::string_view step) { write_log(what + ": " + std::string(step)); };
}

}  // namespace tenon_python
