// SPDX-License-Identifier: Apache-2.0
#include "import/export_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "import/onnx_schema.h"
#include "import/proto_writer.h"
#include "ir/text.h"
#include "ops/core/random_streams.h"
#include "ops/core/schema.h"

namespace tenon::import {

using protozero::pbf_writer;

namespace {

const std::string* outer_constant(const NameScope& scope, const ir::Constant* constant) {
  for (const NameScope* s = &scope; s; s = s->outer)
    if (auto at = s->constants.find(constant); at != s->constants.end()) return &at->second;
  return nullptr;
}

/// ONNX lets a new cache be left out; with a past, ONNX Runtime 1.31 runs attention right only where it is requested.
bool is_new_cache(const ops::OpDef& def, const ir::Node& node, size_t index) {
  if (index >= def.outputs.size() || !def.outputs.begin()[index].starts_with("present")) return false;
  for (size_t k = 0; k < std::min<size_t>(node.explicit_inputs, def.inputs.size()); ++k)
    if (node.inputs[k] && def.inputs.begin()[k].starts_with("past")) return true;
  return false;
}

/// Whether a result has no reader and the op allows it to be omitted.
bool is_left_out(const ir::Graph& graph, const ir::Node& node, size_t index) {
  const ir::ValueId id = index < node.outputs.size() ? node.outputs[index] : ir::ValueId();
  if (node.op->unknown) return !id;
  const ops::OpDef& def = ops::def_of(*node.op);
  if (is_new_cache(def, node, index)) return false;
  if (id && (!graph.value(id).uses.empty() || index == 0 || static_cast<int>(index) < node.op->min_outputs)) return false;
  return ops::may_be_omitted(def, node.attributes, index);
}

void add_entry(pbf_writer& node, std::string_view key, std::string_view value) {
  std::string message;
  pbf_writer entry(message);
  entry.add_string(schema::entry::kKey, std::string(key));
  entry.add_string(schema::entry::kValue, std::string(value));
  node.add_message(schema::node::kMetadata, message);
}

/// Writes the source's metadata of a node, the rule that created it, and the names of its source nodes.
void add_metadata(pbf_writer& node, const ir::Provenance& provenance) {
  for (const auto& [key, value] : provenance.metadata) add_entry(node, key, value);
  if (provenance.rule.empty()) return;
  add_entry(node, "tenon.rule", provenance.rule);
  add_entry(node, "tenon.sources", fmt::format("{}", fmt::join(provenance.sources, ", ")));
}

/// A type is stored as text, which the file cannot distinguish from text.
Result<std::string> attribute_of(const ir::Op& op, std::string_view name, const ir::Attribute& value) {
  for (const ops::AttributeSpec& spec : ops::attribute_specs(ops::def_of(op))) {
    if (spec.name != name || spec.kind != ops::AttributeSpec::Kind::type) continue;
    Symbols symbols;
    const auto* text = std::get_if<std::string>(&value);
    return type_attribute_message(name, TRY(ir::parse_type(text ? *text : std::string(), symbols)));
  }
  return attribute_message(name, value);
}

}  // namespace

std::string ExportWriter::unique(NameScope& scope, const std::string& wanted) {
  std::string name = wanted.empty() ? fmt::format("v{}", scope.used->size()) : wanted;
  for (int k = 1; !scope.used->insert(name).second; ++k) name = fmt::format("{}_{}", wanted.empty() ? "v" : wanted, scope.used->size() + k);
  return name;
}

/// Inputs and outputs of the root come first, so that they keep their names.
void ExportWriter::name_values(const ir::Graph& graph, NameScope& scope, size_t formals) {
  const auto name = [&](ir::ValueId id) {
    if (!scope.names.contains(id)) scope.names.emplace(id, unique(scope, graph.value(id).name));
  };
  for (ir::ValueId id : graph.inputs().first(formals)) name(id);
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
    const ir::ValueId id = graph.outputs()[k];
    const std::string& wanted = graph.output_name(k);
    const ir::Value& value = graph.value(id);
    const bool fresh = !scope.names.contains(id);
    if (fresh && value.kind == ir::Value::Kind::result) scope.names.emplace(id, unique(scope, wanted));
    else if (fresh && value.is_constant() && value.name == wanted) name(id);
    else if (fresh || scope.names[id] != wanted) scope.copies.emplace(k, unique(scope, wanted));
  }
  for (ir::ValueId id : graph.values()) {
    const ir::Value& value = graph.value(id);
    if (value.is_constant()) name_constant(graph, id, scope);
    else if (value.kind == ir::Value::Kind::result) name(id);
  }
}

/// Decides in which graph a constant that this graph reads is written: in the enclosing graph that writes it already, else in the root
/// where it is large, else in this one. A constant without readers in this graph is not written here: bodies that read it write it
/// themselves.
void ExportWriter::name_constant(const ir::Graph& graph, ir::ValueId id, NameScope& scope) {
  const ir::Value& value = graph.value(id);
  if (value.uses.empty()) return;
  const bool is_named = scope.names.contains(id);  // as an output
  if (const std::string* known = is_named ? nullptr : outer_constant(scope, value.constant.get())) {
    scope.names.emplace(id, *known);
    return;
  }
  if (!is_named) scope.names.emplace(id, unique(scope, value.name));
  NameScope* root = &scope;
  while (root->outer) root = root->outer;
  if (root != &scope && !root->function && value.constant->byte_size() >= kExternalThreshold) {
    root->constants.emplace(value.constant.get(), scope.names[id]);
    weights.push_back({scope.names[id], value.constant});
    return;
  }
  scope.constants.emplace(value.constant.get(), scope.names[id]);
  scope.own_constants.push_back(id);
}

static std::string constant_node(const std::string& name, const std::string& tensor) {
  std::string attribute, node;
  pbf_writer a(attribute), n(node);
  a.add_string(schema::attribute::kName, "value");
  a.add_message(schema::attribute::kTensor, tensor);
  a.add_int32(schema::attribute::kType, static_cast<int32_t>(schema::AttributeType::tensor));
  n.add_string(schema::node::kOutput, name);
  n.add_string(schema::node::kOpType, "Constant");
  n.add_message(schema::node::kAttribute, attribute);
  return node;
}

Result<void> ExportWriter::constants(std::string& out, const ir::Graph& graph, NameScope& scope, bool root) {
  if (root)
    for (ir::ValueId id : graph.inputs())
      if (graph.value(id).has_default()) weights.push_back({scope.names[id], graph.value(id).constant});
  for (ir::ValueId id : scope.own_constants) {
    const ir::Value& value = graph.value(id);
    const std::string& name = scope.names[id];
    if (root) {
      weights.push_back({name, value.constant});
    } else if (scope.function) {
      pbf_writer(out).add_message(schema::function::kNode, constant_node(name, TRY(tensor_message("", *value.constant))));
    } else {
      pbf_writer(out).add_message(schema::graph::kInitializer, TRY(tensor_message(name, *value.constant)));
    }
  }
  return {};
}

Result<void> ExportWriter::nodes(std::string& out, uint32_t field, const ir::Graph& graph, NameScope& scope) {
  for (ir::NodeId id : graph.nodes()) pbf_writer(out).add_message(field, TRY(node_message(graph, id, scope)));
  return {};
}

int64_t ExportWriter::imported(std::string_view domain) const {
  const auto at = std::ranges::find(source_opsets_, domain, &decltype(source_opsets_)::value_type::first);
  return at == source_opsets_.end() ? 1 : at->second;
}

/// A new name where the node does not have the result.
std::string ExportWriter::result_name(const ir::Node& node, size_t index, NameScope& scope) {
  return index < node.outputs.size() && node.outputs[index] ? scope.names[node.outputs[index]] : unique(scope, "");
}

/// Rules may give several nodes one name; readers need unique names in a model.
std::string ExportWriter::node_name(const std::string& wanted) {
  std::string name = wanted;
  while (!node_names_.insert(name).second) name = fmt::format("{}_{}", wanted, ++name_counts_[wanted]);
  return name;
}

const ops::OnnxSchema* ExportWriter::schema_of(const ir::Node& node, bool called) {
  if (called || node.op->unknown) return nullptr;
  return ops::onnx_schema(node.op->domain, node.op->name, node.op->domain.empty() ? target_.version : node.op->since_version);
}

/// A node elsewhere may need a newer version of a domain, which must still mean the versions that all others were written in.
Result<void> ExportWriter::check_versions() const {
  for (const auto& [schema, where] : written_) {
    const auto imported = domains.find(std::string(schema->domain));
    if (imported == domains.end() || ops::onnx_schema(schema->domain, schema->name, imported->second) == schema) continue;
    return fail(Code::not_supported, where, "the model's nodes need different versions of one domain")
        .expected(fmt::format("version {} of {} for this node", schema->since, schema->domain))
        .found(fmt::format("version {} for others", imported->second));
  }
  return {};
}

Result<std::string> ExportWriter::node_message(const ir::Graph& graph, ir::NodeId id, NameScope& scope) {
  const ir::Node& node = graph.node(id);
  Call target{node.op->domain, node.op->name, {}, std::max(node.outputs.size(), ops::def_of(*node.op).outputs.size())};
  const bool called = is_function_call(graph, id, target_);
  if (called) target = TRY(call(graph, id));
  std::string out;
  pbf_writer n(out);
  const auto leaves_out = [&](size_t index) { return !called && is_left_out(graph, node, index); };
  const ops::OnnxSchema* const schema = schema_of(node, called);
  size_t inputs = node.explicit_inputs, results = target.results;
  while (!node.op->unknown && inputs > 0 && !node.inputs[inputs - 1]) --inputs;
  while (!node.op->unknown && results > 0 && leaves_out(results - 1)) --results;
  if (schema) {
    inputs = std::max(inputs, schema->least_inputs);
    if (needed <= target_.version) TRY(ops::check_schema(*schema, graph.view(id), inputs, results));
    written_.try_emplace(schema, graph.view(id).where());
  }
  for (size_t i = 0; i < inputs; ++i)
    n.add_string(schema::node::kInput, i < node.explicit_inputs && node.inputs[i] ? scope.names[node.inputs[i]] : std::string());
  for (size_t i = 0; i < results; ++i) n.add_string(schema::node::kOutput, leaves_out(i) ? std::string() : result_name(node, i, scope));
  if (!node.name.empty()) n.add_string(schema::node::kName, node_name(node.name));
  n.add_string(schema::node::kOpType, target.name);
  for (const auto& [name, value] : node.attributes)
    if (name != ops::kStreamAttribute || !ops::has_stream(*node.op))
      n.add_message(schema::node::kAttribute, TRY(attribute_of(*node.op, name, value)));
  for (const ir::Body& body : node.bodies)
    n.add_message(schema::node::kAttribute, graph_attribute_message(body.name, TRY(body_message(graph, node, body, scope))));
  if (!target.domain.empty()) {
    n.add_string(schema::node::kDomain, target.domain);
    int64_t& version = domains.emplace(target.domain, 1).first->second;
    if (!called) version = std::max(version, node.op->unknown ? imported(target.domain) : node.op->since_version);
  }
  if (!target.overload.empty()) n.add_string(schema::node::kOverload, target.overload);
  if (node.provenance) add_metadata(n, *node.provenance);
  return out;
}

Result<std::string> ExportWriter::body_message(const ir::Graph&, const ir::Node& node, const ir::Body& body, NameScope& scope) {
  NameScope inner{.outer = &scope, .used = scope.used, .names = {}, .constants = {}, .copies = {}, .function = false};
  const size_t formals = body.graph->inputs().size() - body.captures;
  for (uint32_t i = 0; i < body.captures; ++i)
    inner.names.emplace(body.graph->inputs()[formals + i], scope.names[node.inputs[body.first_capture + i]]);
  return graph_message(*body.graph, inner, formals, false);
}

static std::string identity_node(const std::string& from, const std::string& to) {
  std::string node;
  pbf_writer n(node);
  n.add_string(schema::node::kInput, from);
  n.add_string(schema::node::kOutput, to);
  n.add_string(schema::node::kOpType, "Identity");
  return node;
}

Result<void> ExportWriter::check_copy(const ir::Type& type, const std::string& name) {
  for (const ops::OnnxSchema& version : ops::onnx_schemas("", "Identity")) {
    if (!version.outputs[0].types.contains(type)) continue;
    if (version.since > target_.version && target_.fixed)
      return fail(Code::not_supported, fmt::format("output '{}'", name), "the opset cannot say the copy that the output needs")
          .expected(fmt::format("opset {} or newer", version.since))
          .found(fmt::format("{} at opset {}", type.text(), target_.version))
          .advice("leave --opset out: the lowest one that works is chosen");
    needed = std::max<int64_t>(needed, version.since);
    return {};
  }
  return fail(Code::not_supported, fmt::format("output '{}'", name), "no opset of ONNX copies a value of this type").found(type.text());
}

/// Names of the outputs. A value that cannot carry the output's name, is an output twice or, in a body or function, is no
/// result of a node there, goes through an Identity.
Result<std::vector<std::string>> ExportWriter::outputs(std::string& out, uint32_t node_field, const ir::Graph& graph, NameScope& scope,
                                                       bool root) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
    const ir::ValueId id = graph.outputs()[k];
    const std::string& name = scope.names[id];
    const auto reserved = scope.copies.find(k);
    const bool plain = reserved == scope.copies.end() && (root || graph.value(id).kind == ir::Value::Kind::result);
    if (plain && seen.insert(name).second) {
      names.push_back(name);
      continue;
    }
    TRY(check_copy(graph.value(id).type, name));
    const std::string copy = reserved != scope.copies.end() ? reserved->second : unique(scope, name + "_out");
    pbf_writer(out).add_message(node_field, identity_node(name, copy));
    names.push_back(copy);
  }
  return names;
}

Result<std::string> ExportWriter::graph_message(const ir::Graph& g, NameScope& scope, size_t formals, bool root) {
  std::string out;
  name_values(g, scope, formals);
  TRY(nodes(out, schema::graph::kNode, g, scope));
  pbf_writer(out).add_string(schema::graph::kName, g.name.empty() ? (root ? "main" : "body") : g.name);
  TRY(constants(out, g, scope, root));
  for (ir::ValueId id : g.inputs().first(formals))
    pbf_writer(out).add_message(schema::graph::kInput, value_info_message(scope.names[id], g.value(id).type));
  const std::vector<std::string> names = TRY(outputs(out, schema::graph::kNode, g, scope, root));
  for (size_t i = 0; i < names.size(); ++i)
    pbf_writer(out).add_message(schema::graph::kOutput, value_info_message(names[i], g.value(g.outputs()[i]).type));
  if (!root || !value_info_) return out;
  for (ir::NodeId id : g.nodes())
    for (ir::ValueId v : g.node(id).outputs)
      if (v && !g.value(v).uses.empty() && !g.is_output(v) && g.value(v).type.dtype != DType::none)
        pbf_writer(out).add_message(schema::graph::kValueInfo, value_info_message(scope.names[v], g.value(v).type));
  return out;
}

Result<void> ExportWriter::write(const ir::Graph& g) {
  source_opsets_ = g.opsets;
  std::unordered_set<std::string> used;
  NameScope scope{.used = &used, .names = {}, .constants = {}, .copies = {}};
  graph = TRY(graph_message(g, scope, g.inputs().size(), true));
  return check_versions();
}

}  // namespace tenon::import
