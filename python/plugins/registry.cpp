// SPDX-License-Identifier: Apache-2.0
// The plugins that this process knows, as TensorRT's registry lists them (tenon/graph_rewriting/plugins.py).
#include "plugins/registry.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include "handles.h"
#include "plugin/kept.h"
#include "plugins/environment.h"

namespace tenon::python {

namespace {

/// A dict an op, of several versions the newest: of TENON_PLUGINS, libraries that were opened for the process, functions.
nb::list plugin_ops() {
  nb::list out;
  const auto registry = unwrap(plugin::kept_registry(with_environment({})));
  for (const plugin::Op* op : registry->ops()) {
    if (op->table.kernel_of || registry->find(op->name_space, op->name) != op) continue;
    nb::list fields, results;
    for (const tenon_field_rule& rule : op->fields) fields.append(nb::make_tuple(rule.name, rule.type, rule.length));
    for (const tenon_port& port : op->results) results.append(nb::make_tuple(port.name, port.variadic != 0));
    nb::dict one;
    one["name_space"] = op->name_space;
    one["name"] = op->name;
    one["version"] = op->version;
    one["library"] = op->library;
    one["fields"] = fields;
    one["results"] = results;
    out.append(one);
  }
  return out;
}

/// Part of every list of plugins from now on, as if each caller named it.
void open_plugins(const std::filesystem::path& file) {
  const auto library = unwrap(plugin::open_library(file, {}));
  unwrap(plugin::kept_registry(with_environment({file})));  // one op in two libraries is an error, before anything is kept
  plugin::keep_own(library);
}

}  // namespace

void bind_registry(nb::module_& m) {
  m.def("_plugin_ops", &plugin_ops);
  m.def("_open_plugins", &open_plugins, nb::arg("file"));
}

}  // namespace tenon::python
