// SPDX-License-Identifier: Apache-2.0
// @tenon.plugin, behind what tenon/_plugins.py finds out of the function.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "convert.h"
#include "handles.h"
#include "ops/plugin/plugin_table.h"
#include "plugin/registry_cache.h"
#include "plugins/python_op.h"
#include "plugins/registry.h"
#include "plugins/sizes.h"
#include "plugins/trial.h"

namespace tenon::python {

namespace {

using Text = std::optional<std::string>;
using Operand = std::tuple<std::string, bool, bool>;  ///< name, optional, variadic
/// name, type of tenon_field_type, length, the bytes of the default, whether it may be left out where there are none, whether it is a bool.
using FieldRule = std::tuple<std::string, int32_t, int64_t, std::optional<nb::bytes>, bool, bool>;
using Ranges = std::map<std::string, std::pair<double, double>>;
using Choices = std::map<std::string, std::vector<std::string>>;

struct Given {
  std::string name_space, name, version, origin, source, library;
  Text docs, expression;
  std::vector<Operand> operands;
  std::vector<std::string> results;
  std::vector<FieldRule> fields;
  Ranges ranges;    ///< by field
  Choices choices;  ///< likewise
  std::vector<std::string> samples;
};

Given read(const nb::dict& told) {
  const auto text = [&](const char* key) { return nb::cast<std::string>(told[key]); };
  return {.name_space = text("name_space"),
          .name = text("name"),
          .version = text("version"),
          .origin = text("origin"),
          .source = text("source"),
          .library = text("library"),
          .docs = nb::cast<Text>(told["docs"]),
          .expression = nb::cast<Text>(told["definition"]),
          .operands = nb::cast<std::vector<Operand>>(told["operands"]),
          .results = nb::cast<std::vector<std::string>>(told["results"]),
          .fields = nb::cast<std::vector<FieldRule>>(told["fields"]),
          .ranges = nb::cast<Ranges>(told["ranges"]),
          .choices = nb::cast<Choices>(told["choices"]),
          .samples = nb::cast<std::vector<std::string>>(told["samples"])};
}

tenon_port port(PythonOp& op, const std::string& name) {
  tenon_port out{};
  out.struct_size = sizeof out;
  out.name = op.keep(name);
  return out;
}

void list_ports(PythonOp& op, const Given& given) {
  for (const auto& [name, optional, variadic] : given.operands) {
    op.operands.push_back(port(op, name));
    op.operands.back().optional = optional;
    op.operands.back().variadic = variadic;
  }
  for (const std::string& name : given.results) op.results.push_back(port(op, name));
}

void list_fields(PythonOp& op, const Given& given) {
  for (const auto& [name, type, length, otherwise, optional, is_bool] : given.fields) {
    tenon_field_rule rule{};
    rule.struct_size = sizeof rule;
    rule.name = op.keep(name);
    rule.type = type;
    rule.length = length;
    if (otherwise) rule.otherwise = op.keep({otherwise->c_str(), otherwise->size()});
    rule.optional = optional;
    rule.has_range = is_bool;
    rule.most = 1;
    if (const auto range = given.ranges.find(name); range != given.ranges.end()) {
      rule.has_range = 1;
      std::tie(rule.least, rule.most) = range->second;
    }
    if (const auto choices = given.choices.find(name); choices != given.choices.end()) {
      auto& list = op.choice_lists.emplace_back();
      for (const std::string& choice : choices->second) list.push_back(op.keep(choice));
      list.push_back(nullptr);
      rule.choices = list.data();
    }
    op.fields.push_back(rule);
    op.are_bools.push_back(is_bool);
  }
}

PythonOp& make(const nb::dict& told, const Given& given) {
  auto& op = *new PythonOp;
  op.arrays = nb::cast<bool>(told["torch"]) ? ArrayKind::torch : ArrayKind::numpy;
  op.function = told["function"];
  if (const nb::object shape = told["shape"]; !shape.is_none()) op.shape = shape;
  if (const nb::object define = told["define"]; !define.is_none()) op.define = define;
  for (const std::string& sample : given.samples) op.sample_list.push_back(op.keep(sample));
  for (const nb::handle dtype : told["dtypes"])
    op.dtypes.push_back(dtype.is_none() ? int32_t{TENON_NO_DTYPE} : static_cast<int32_t>(dtype_of(dtype)));
  op.takes_out = nb::cast<bool>(told["takes_out"]);
  list_ports(op, given);
  list_fields(op, given);
  op.op.name_space = op.keep(given.name_space);
  op.op.name = op.keep(given.name);
  op.op.version = op.keep(given.version);
  if (given.docs) op.op.docs = op.keep(*given.docs);
  if (given.expression) op.op.expression = op.keep(*given.expression);
  op.library.name = op.keep(given.library);
  op.fill_tables(nb::cast<bool>(told["infers"]));
  return op;
}

void add_plugin(const nb::dict& told) {
  const Given given = read(told);
  PythonOp& op = make(told, given);
  const auto library = unwrap(plugin::library_of(op.library, given.origin, plugin::sha256_of_text(given.source)));
  op.known_as(library->ops.at(0).host->table());
  // Alone first: what is wrong with it shall not stand in the way of others.
  const auto alone = std::make_shared<plugin::Registry>();
  unwrap(alone->add(library));
  unwrap(ops::table_with_plugins(alone));
  plugin::add_own_library(library);
}

}  // namespace

void bind_plugins(nb::module_& m) {
  bind_sizes(m);
  bind_trial(m);
  bind_registry(m);
  m.def("_add_plugin", &add_plugin, nb::arg("told"));
}

}  // namespace tenon::python
