// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ops/core/op.h"
#include "ops/plugin/expression.h"
#include "plugin/object.h"

namespace tenon::ops {

/// An op of a plugin library as the compiler sees it: an OpDef whose functions call the library. Stays where it is made.
class PluginOp {
 public:
  /// op: outlives it. name: of nodes. Errors: bad_file for an expression that does not parse.
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
  std::vector<std::string> texts_;  ///< what the lists point at
  std::vector<std::string_view> inputs_, outputs_, attributes_, samples_;
};

/// The plugin behind an op; null: it is none of a plugin's.
const PluginOp* plugin_of(const ir::Op& op);

/// What a field is that a node leaves out; its rule has a default.
plugin::Field default_of(const tenon_field_rule& rule);
/// The field as an attribute of a node of ONNX. is_list: of one number too.
ir::Attribute attribute_of(const plugin::Field& field, bool is_list = false);

/// What the fields of an op are at a node: its attributes, and defaults. Errors: bad_attribute, with all that is wrong.
Result<std::vector<plugin::Field>> fields_of(const NodeView& view, const plugin::Op& op);

/// The attributes of a node of any op, those that are left out with their defaults where the op states one number or text, as fields: what
/// a kernel of the op gets. Types and bodies are none.
std::vector<plugin::Field> attributes_as_fields(const NodeView& view);

/// The node's instance while a model is built. Errors: those of fields_of and of the plugin.
Result<std::unique_ptr<plugin::Object>> object_of(const NodeView& view, const plugin::Op& op);

}  // namespace tenon::ops
