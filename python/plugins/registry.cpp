// SPDX-License-Identifier: Apache-2.0
// The plugins of this process, as TensorRT's registry lists them (tenon/graph_rewriting/plugins.py).
#include "plugins/registry.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "convert.h"
#include "handles.h"
#include "ops/creators/op_creator.h"
#include "ops/plugin/plugin_op.h"
#include "ops/plugin/plugin_table.h"
#include "plugin/public/plugins.h"
#include "plugins/environment.h"

namespace tenon::python {

namespace {

/// A tuple for each port: (name, may be missing, takes any number of values).
nb::list tuples_of(const std::vector<tenon_port>& ports) {
  nb::list out;
  for (const tenon_port& port : ports) out.append(nb::make_tuple(port.name, port.optional != 0, port.variadic != 0));
  return out;
}

/// The description of an op for PluginCreator. node_op: its name in nodes.
nb::dict op_dict(const plugin::Op& op, const std::string& node_op) {
  nb::list fields;
  for (const tenon_field_rule& rule : op.fields)
    fields.append(nb::make_tuple(rule.name, rule.type, rule.length,
                                 rule.otherwise ? python_of(ops::attribute_of(ops::default_of(rule), rule.length != 1)) : nb::none()));
  nb::dict out;
  out["name_space"] = op.name_space;
  out["name"] = op.name;
  out["version"] = op.version;
  out["library"] = op.library_name;
  out["node_op"] = node_op;
  out["fields"] = fields;
  out["operands"] = tuples_of(op.operands);
  out["results"] = tuples_of(op.results);
  return out;
}

/// A dict an op: of the libraries of TENON_PLUGINS, of those that open_plugins opened, and functions of @tenon.plugin. Not kernels of other
/// ops.
nb::list plugin_ops() {
  nb::list out;
  const auto registry = unwrap(plugin::cached_registry(with_environment({})));
  for (const plugin::Op* op : registry->ops()) {
    if (op->table.kernel_of) continue;
    const bool is_newest = registry->find(op->name_space, op->name) == op;
    out.append(op_dict(*op, is_newest ? op->name : ops::name_of_older(*op)));
  }
  return out;
}

/// The same of the creators that Tenon has itself; node_op: the op of domain "tenon" that they make.
nb::list op_creators() {
  nb::list out;
  for (const ops::OpCreator& creator : ops::op_creators()) out.append(op_dict(creator.declared, std::string(creator.op)));
  return out;
}

/// Name, type, number of elements, bytes.
using GivenField = std::tuple<std::string, int32_t, int64_t, nb::bytes>;

/// The node of such a creator for these fields: attributes, number of outputs, dtype of operand 0 or None, whether each operand must be
/// given (None: it may).
nb::tuple created_node(const std::string& name_space, const std::string& name, const std::string& version,
                       const std::vector<GivenField>& given) {
  std::vector<plugin::Field> fields;
  for (const auto& [field, type, length, bytes] : given) fields.push_back({field, type, length, std::string(bytes.c_str(), bytes.size())});
  const ops::OpCreator* const creator = ops::find_op_creator(name_space, name, version);
  if (!creator) throw nb::key_error(name.c_str());
  const ops::CreatedNode node = unwrap(ops::create_node(*creator, fields));
  nb::dict attributes;
  for (const auto& [key, value] : node.attributes) attributes[key.c_str()] = python_of(value);
  nb::list operands;
  for (const auto& must : node.operands) operands.append(must ? nb::object(nb::bool_(*must)) : nb::object(nb::none()));
  const nb::object dtype =
      node.dtype == DType::none ? nb::object(nb::none()) : nb::object(nb::str(std::string(name_of(node.dtype)).c_str()));
  return nb::make_tuple(attributes, node.outputs, dtype, operands);
}

/// The same of a node's op; None where no plugin brought it.
nb::object plugin_of_node(const NodeRef& node) {
  const ir::Op& op = *resolve(node).op;
  const ops::PluginOp* const plugin = ops::plugin_of(op);
  return plugin ? nb::object(op_dict(plugin->op(), op.name)) : nb::none();
}

/// Part of every list of plugins from now on, as if each caller named it.
void open_plugins(const std::filesystem::path& file) {
  const auto library = unwrap(plugin::open_library(file, plugin::Logger()));
  unwrap(plugin::cached_registry(with_environment({file})));  // one op in two libraries is an error, before anything is kept
  plugin::add_to_all_registries(library);
}

}  // namespace

void bind_registry(nb::module_& m) {
  m.def("_plugin_ops", &plugin_ops);
  m.def("_op_creators", &op_creators);
  m.def("_created_node", &created_node, nb::arg("name_space"), nb::arg("name"), nb::arg("version"), nb::arg("fields"));
  m.def("_plugin_of", &plugin_of_node, nb::arg("node"));
  m.def("_open_plugins", &open_plugins, nb::arg("file"));
}

}  // namespace tenon::python
