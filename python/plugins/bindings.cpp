// SPDX-License-Identifier: Apache-2.0
// @tenon.plugin, on top of what tenon/_plugins.py finds out of the function.
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
#include "plugin/public/plugins.h"
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

struct PluginDescription {
  std::string name_space, name, version, origin, source, library;
  Text docs, expression;
  std::vector<Operand> operands;
  std::vector<std::string> results;
  std::vector<FieldRule> fields;
  Ranges ranges;    ///< by field
  Choices choices;  ///< likewise
  std::vector<std::string> samples;
};

PluginDescription read(const nb::dict& plugin) {
  const auto text = [&](const char* key) { return nb::cast<std::string>(plugin[key]); };
  return {.name_space = text("name_space"),
          .name = text("name"),
          .version = text("version"),
          .origin = text("origin"),
          .source = text("source"),
          .library = text("library"),
          .docs = nb::cast<Text>(plugin["docs"]),
          .expression = nb::cast<Text>(plugin["definition"]),
          .operands = nb::cast<std::vector<Operand>>(plugin["operands"]),
          .results = nb::cast<std::vector<std::string>>(plugin["results"]),
          .fields = nb::cast<std::vector<FieldRule>>(plugin["fields"]),
          .ranges = nb::cast<Ranges>(plugin["ranges"]),
          .choices = nb::cast<Choices>(plugin["choices"]),
          .samples = nb::cast<std::vector<std::string>>(plugin["samples"])};
}

tenon_port port(PythonOp& op, const std::string& name) {
  tenon_port out{};
  out.struct_size = sizeof out;
  out.name = op.keep(name);
  return out;
}

void list_ports(PythonOp& op, const PluginDescription& description) {
  for (const auto& [name, optional, variadic] : description.operands) {
    op.operands.push_back(port(op, name));
    op.operands.back().optional = optional;
    op.operands.back().variadic = variadic;
  }
  for (const std::string& name : description.results) op.results.push_back(port(op, name));
}

void list_fields(PythonOp& op, const PluginDescription& description) {
  for (const auto& [name, type, length, otherwise, optional, is_bool] : description.fields) {
    tenon_field_rule rule{};
    rule.struct_size = sizeof rule;
    rule.name = op.keep(name);
    rule.type = type;
    rule.length = length;
    if (otherwise) rule.otherwise = op.keep({otherwise->c_str(), otherwise->size()});
    rule.optional = optional;
    rule.has_range = is_bool;
    rule.most = 1;
    if (const auto range = description.ranges.find(name); range != description.ranges.end()) {
      rule.has_range = 1;
      std::tie(rule.least, rule.most) = range->second;
    }
    if (const auto choices = description.choices.find(name); choices != description.choices.end()) {
      auto& list = op.choice_lists.emplace_back();
      for (const std::string& choice : choices->second) list.push_back(op.keep(choice));
      list.push_back(nullptr);
      rule.choices = list.data();
    }
    op.fields.push_back(rule);
    op.are_bools.push_back(is_bool);
  }
}

PythonOp& make(const nb::dict& plugin, const PluginDescription& description) {
  auto& op = *new PythonOp;
  op.arrays = nb::cast<bool>(plugin["torch"]) ? ArrayKind::torch : ArrayKind::numpy;
  op.function = plugin["function"];
  if (const nb::object shape = plugin["shape"]; !shape.is_none()) op.shape = shape;
  if (const nb::object define = plugin["define"]; !define.is_none()) op.define = define;
  for (const std::string& sample : description.samples) op.sample_list.push_back(op.keep(sample));
  for (const nb::handle dtype : plugin["dtypes"])
    op.dtypes.push_back(dtype.is_none() ? int32_t{TENON_NO_DTYPE} : static_cast<int32_t>(dtype_of(dtype)));
  op.takes_out = nb::cast<bool>(plugin["takes_out"]);
  list_ports(op, description);
  list_fields(op, description);
  op.op.name_space = op.keep(description.name_space);
  op.op.name = op.keep(description.name);
  op.op.version = op.keep(description.version);
  if (description.docs) op.op.docs = op.keep(*description.docs);
  if (description.expression) op.op.expression = op.keep(*description.expression);
  op.library.name = op.keep(description.library);
  op.fill_tables(nb::cast<bool>(plugin["infers"]));
  return op;
}

void add_plugin(const nb::dict& plugin) {
  const PluginDescription description = read(plugin);
  PythonOp& op = make(plugin, description);
  const auto library = unwrap(plugin::library_of(op.library, description.origin, plugin::sha256_of_text(description.source)));
  op.known_as(library->ops.at(0).host->table());
  // Alone first: what is wrong with it shall not be in the way of others.
  const auto alone = std::make_shared<plugin::Registry>();
  unwrap(alone->add(library));
  unwrap(ops::table_with_plugins(alone));
  plugin::add_to_all_registries(library);
}

}  // namespace

void bind_plugins(nb::module_& m) {
  bind_sizes(m);
  bind_trial(m);
  bind_registry(m);
  m.def("_add_plugin", &add_plugin, nb::arg("plugin"));
}

}  // namespace tenon::python
