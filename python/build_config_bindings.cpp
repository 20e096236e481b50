// SPDX-License-Identifier: Apache-2.0
// Bindings that tenon.BuildConfig uses to check itself: the table of its fields, and the reader of its JSON.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "compiler/options/build_config_json.h"
#include "handles.h"

namespace tenon_python {

namespace {

/// Object, name, type, standard value as JSON, use, meaning.
using Row = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

std::vector<Row> fields() {
  std::vector<Row> out;
  for (const tenon::compiler::BuildConfigField& f : tenon::compiler::build_config_fields())
    out.emplace_back(f.object, f.name, type_text(f), f.standard, name_of(f.use), f.meaning);
  return out;
}

std::string read(const std::string& text, const std::string& place) {
  return tenon::python::unwrap(tenon::compiler::BuildConfigJson::parse(text, place)).all().dump();
}

}  // namespace

void bind_build_config(nanobind::module_& m) {
  m.def("_build_config_fields", &fields);
  m.def("_read_build_config", &read);
}

}  // namespace tenon_python
