// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ops/core/op.h"
#include "ops/plugin/expression.h"
#include "plugin/object.h"

namespace tenon::ops {

/// The OpDef of a plugin's op; its functions call the library. Not movable, since the OpDef points into it.
class PluginOp {
 public:
  /// op: outlives the result. name: the op's name in nodes. Errors: bad_file for an expression that does not parse.
  static Result<std::unique_ptr<const PluginOp>> make(const plugin::Op& op, std::string name);
  PluginOp(const PluginOp&) = delete;

  const plugin::Op& op() const { return op_; }
  const OpDef& def() const { return def_; }
  const std::optional<Expression>& expression() const { return expression_; }

 private:
  PluginOp(const plugin::Op& op, std::string name);
  void list_ports();
  void list_fields();

  const plugin::Op& op_;
  const std::string name_;
  std::optional<Expression> expression_;
  OpDef def_;
  std::vector<std::string> texts_;  ///< strings that the lists below point to
  std::vector<std::string_view> inputs_, outputs_, attributes_, samples_;
};

/// The plugin's op for an op of a table; null where it is not of a plugin.
const PluginOp* plugin_of(const ir::Op& op);

/// The default of a field whose rule has one.
plugin::Field default_of(const tenon_field_rule& rule);
/// The field as an attribute of a node. is_list: a field of one number becomes a list too.
ir::Attribute attribute_of(const plugin::Field& field, bool is_list = false);

/// The values of the op's fields at a node: its attributes, else the defaults. Errors: bad_attribute, which lists all problems.
Result<std::vector<plugin::Field>> fields_of(const NodeView& view, const plugin::Op& op);

/// The attributes of a node of any op, those that are left out with their defaults where the op states one number or text, as fields: what
/// a kernel of the op gets. Types and bodies are none.
std::vector<plugin::Field> attributes_as_fields(const NodeView& view);

/// The node's instance while a model is built. Errors: those of fields_of and of the plugin.
Result<std::unique_ptr<plugin::Object>> object_of(const NodeView& view, const plugin::Op& op);

}  // namespace tenon::ops
