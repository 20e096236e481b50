// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_maker.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "import/onnx_order.h"
#include "import/onnx_parse.h"
#include "ops/core/op.h"
#include "ops/core/schema.h"

namespace tenon::import {
namespace {

std::string where_of(const Scope& scope, const OnnxNode& node) {
  return fmt::format("node '{}{}' ({})", scope.prefix, node.name, qualified(node.domain, node.op));
}

/// The attribute with the value that counts here: its own, or that of the enclosing function. nullptr: the caller gave none.
Result<const OnnxAttribute*> resolve(const Scope& scope, const OnnxAttribute& a, const OnnxNode& node) {
  if (a.reference.empty()) return &a;
  if (!scope.env)
    return fail(Code::bad_attribute, where_of(scope, node),
                fmt::format("attribute '{}' refers to a function's attribute, but is in no function", a.name))
        .expected("a value, or a place inside a function")
        .found(fmt::format("a reference to '{}'", a.reference));
  auto at = scope.env->find(a.reference);
  return at == scope.env->end() ? nullptr : at->second;
}

/// Whether an attribute of an unknown node is stored as what it is: where an op is known, its schema gives the meaning of text and tensors.
Result<void> check_kept(const Scope& scope, const OnnxAttribute& a, const OnnxNode& node) {
  const OnnxAttribute* value = TRY(resolve(scope, a, node));
  if (!value || (!value->value_type && !value->sparse)) return {};
  return fail(Code::not_supported, where_of(scope, node),
              fmt::format("not supported yet: attribute '{}' of an op that is not known, a {}", a.name,
                          value->sparse ? "sparse tensor" : "type"))
      .expected("a number, text, tensor or graph, or a list of numbers or texts")
      .found(value->sparse ? "a sparse tensor" : "a type");
}

constexpr const char* kConstantForms = "one of value, value_float(s), value_int(s), value_string(s), sparse_value";

Result<Tensor> constant_value(TensorReader& tensors, std::string_view name, const OnnxAttribute& a, std::string_view where) {
  if (a.tensor) return tensors.read(*a.tensor);
  if (a.sparse) return tensors.read(*a.sparse);
  if (name == "value_float") return Tensor::of_f32({}, std::array{a.number});
  if (name == "value_int") return Tensor::of_i64({}, std::array{a.integer});
  if (name == "value_floats") return Tensor::of_f32({static_cast<int64_t>(a.floats.size())}, a.floats);
  if (name == "value_ints") return Tensor::of_i64({static_cast<int64_t>(a.ints.size())}, a.ints);
  if (name == "value_string") return Tensor::of_strings({}, {std::string(a.string)});
  if (name == "value_strings") return Tensor::of_strings({static_cast<int64_t>(a.strings.size())}, {a.strings.begin(), a.strings.end()});
  return fail(Code::bad_attribute, std::string(where), "a constant without a value").expected(kConstantForms).found(std::string(name));
}

}  // namespace

Result<void> GraphMaker::count_expanded_values(size_t values, std::string_view where) {
  expanded_values_ += static_cast<int64_t>(values) + 1;
  if (expanded_values_ <= limits_.values) return {};
  return fail(Code::limit_exceeded, std::string(where), "the graph has too many values once its functions are expanded")
      .expected(fmt::format("at most {}", limits_.values))
      .found(fmt::format("{} so far", expanded_values_));
}

std::string GraphMaker::fresh_name(const Scope& scope, std::string_view name) const {
  std::string wanted = scope.prefix + std::string(name);
  return wanted.empty() || !scope.graph.find_value(wanted) ? wanted : scope.graph.unique_name(wanted);
}

std::optional<ir::ValueId> GraphMaker::lookup(Scope& scope, std::string_view name) {
  if (auto at = scope.names.find(name); at != scope.names.end()) return at->second;
  if (!scope.outer) return std::nullopt;
  auto outside = lookup(*scope.outer, name);
  if (!outside) return std::nullopt;
  ir::ValueId inside;
  if (*outside) {
    const ir::Value& value = scope.outer->graph.value(*outside);
    if (value.is_constant()) {
      inside = scope.graph.add_constant(value.constant, fresh_name(scope, name));
    } else {
      inside = scope.graph.add_input(fresh_name(scope, name), value.type);
      scope.captures.push_back(*outside);
    }
  }
  scope.names.emplace(name, inside);
  return inside;
}

Result<ir::ValueId> GraphMaker::find(Scope& scope, std::string_view name, std::string_view where) {
  if (name.empty()) return ir::ValueId{};
  auto id = lookup(scope, name);
  if (!id)
    return fail(Code::bad_graph, std::string(where), fmt::format("value '{}' is not known", name))
        .expected("an input, an initializer or the result of an earlier node")
        .found("none of that name");
  return *id;
}

Result<void> GraphMaker::define(Scope& scope, std::string_view name, ir::ValueId value, std::string_view where) {
  if (!scope.names.emplace(name, value).second)
    return fail(Code::bad_graph, std::string(where), fmt::format("value '{}' is made twice", name))
        .expected("one input, initializer or node for each name")
        .found("an earlier one of this name");
  return {};
}

Result<std::vector<ir::ValueId>> GraphMaker::operands(Scope& scope, const OnnxNode& node) {
  std::vector<ir::ValueId> out;
  for (std::string_view name : node.inputs) out.push_back(TRY(find(scope, name, where_of(scope, node))));
  return out;
}

Result<ir::Attribute> GraphMaker::attribute(const OnnxAttribute& a, std::string_view where) {
  using schema::AttributeType;
  switch (a.type) {
    case AttributeType::number: return a.number;
    case AttributeType::integer: return a.integer;
    case AttributeType::string: return std::string(a.string);
    case AttributeType::floats: return a.floats;
    case AttributeType::ints: return a.ints;
    case AttributeType::strings: return ir::Strings(a.strings.begin(), a.strings.end());
    case AttributeType::tensor:
      if (a.tensor) return TRY(tensors_.read(*a.tensor));
      break;
    case AttributeType::sparse_tensor:
      if (a.sparse) return TRY(tensors_.read(*a.sparse));
      break;
    case AttributeType::type_proto:
      if (a.value_type) return TRY(types_.type(*a.value_type, a.name)).text();
      break;
    default:
      return fail(Code::not_supported, std::string(where),
                  fmt::format("not supported yet: attribute '{}' of ONNX attribute type {}", a.name, static_cast<int>(a.type)))
          .expected("a number, text, tensor or graph, or a list of numbers or texts")
          .found(fmt::format("type {}", static_cast<int>(a.type)));
  }
  return fail(Code::bad_attribute, std::string(where), fmt::format("attribute '{}' has no value of its type", a.name))
      .expected(fmt::format("a value of ONNX attribute type {}", static_cast<int>(a.type)))
      .found("none");
}

Result<void> GraphMaker::metadata(Scope& scope, const OnnxNode& node, ir::NodeId id) {
  ir::Provenance kept;
  for (std::string_view message : node.metadata) {
    const SourcePlace place{node.name, message.data()};
    ProtoReader m(place, message);
    auto& [key, value] = kept.metadata.emplace_back();
    while (TRY(m.next())) {
      switch (m.field()) {
        case schema::entry::kKey: key = TRY(m.bytes()); break;
        case schema::entry::kValue: value = TRY(m.bytes()); break;
        default: TRY(m.skip());
      }
    }
  }
  scope.graph.set_provenance(id, std::make_shared<const ir::Provenance>(std::move(kept)));
  return {};
}

Result<void> GraphMaker::constant(Scope& scope, const OnnxNode& node) {
  const std::string where = where_of(scope, node);
  if (node.outputs.size() != 1 || !node.inputs.empty())
    return fail(Code::bad_graph, where, "a constant has no operand and one result")
        .expected("0 and 1")
        .found(fmt::format("{} and {}", node.inputs.size(), node.outputs.size()));
  for (const OnnxAttribute& a : node.attributes) {
    const OnnxAttribute* value = TRY(resolve(scope, a, node));
    if (!value) continue;
    auto tensor = constant_value(tensors_, a.name, *value, where);
    if (!tensor) return std::move(tensor).error().at(where);
    const ir::ValueId id = scope.graph.add_constant(ir::constant_of(*std::move(tensor)), fresh_name(scope, node.outputs[0]));
    return define(scope, node.outputs[0], id, where);
  }
  return fail(Code::bad_attribute, where, "a constant without a value").expected(kConstantForms).found("no attribute");
}

namespace {

/// Before opset 6 a node could say which operands its results may overwrite; that changes no value.
bool is_in_place_hint(const OnnxNode& node, int64_t version, const OnnxAttribute& a) {
  return node.domain.empty() && version > 0 && version < 6 && a.name == "consumed_inputs";
}

}  // namespace

Result<GraphMaker::NodeFields> GraphMaker::attributes(Scope& scope, const OnnxNode& node, int64_t version) {
  const std::string where = where_of(scope, node);
  NodeFields out;
  for (const OnnxAttribute& a : node.attributes) {
    if (is_in_place_hint(node, version, a)) continue;
    const OnnxAttribute* value = TRY(resolve(scope, a, node));
    if (!value) continue;
    if (value->graph && value != &a)
      return fail(Code::not_supported, where, "not supported yet: a body given as a function's attribute")
          .expected("a body that is at its node")
          .found(fmt::format("attribute '{}'", a.name));
    if (out.attributes.has(a.name) || std::ranges::find(out.bodies, a.name, &Bodies::value_type::first) != out.bodies.end())
      return fail(Code::bad_attribute, where, fmt::format("attribute '{}' is given twice", a.name)).expected("one value").found("two");
    if (value->graph) out.bodies.emplace_back(a.name, value->graph.get());
    else out.attributes.set(std::string(a.name), TRY(attribute(*value, where)));
  }
  return out;
}

Result<void> GraphMaker::name_results(Scope& scope, const OnnxNode& node, ir::NodeId id) {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ir::ValueId result = scope.graph.node(id).outputs[i];
    scope.graph.set_name(result, fresh_name(scope, node.outputs[i]));
    TRY(define(scope, node.outputs[i], result, where_of(scope, node)));
  }
  return {};
}

Result<void> GraphMaker::insert(Scope& scope, const OnnxNode& node, const ir::Op& op) {
  if (op.unknown) return insert_unknown(scope, node, op);
  size_t results = node.outputs.size();
  while (results > 0 && node.outputs[results - 1].empty()) --results;
  const int64_t version = opset_of(*scope.opsets, node.domain);
  NodeFields given = TRY(attributes(scope, node, version));
  std::vector<ir::ValueId> in = TRY(operands(scope, node));
  while (!in.empty() && !in.back()) in.pop_back();
  const ir::NodeId id = scope.graph.insert(op, std::move(in), std::max<size_t>(results, 1), std::move(given.attributes));
  scope.graph.set_name(id, scope.prefix + std::string(node.name));
  if (choices_.metadata && !node.metadata.empty()) TRY(metadata(scope, node, id));
  TRY(name_results(scope, node, id));
  const ops::OpDef& def = ops::def_of(op);
  if (def.upgrade && version != 0 && version < def.since_version) notes_.graphs[&scope.graph].versions[id] = static_cast<int>(version);
  return attach(scope, id, given.bodies, where_of(scope, node));
}

/// Inserts a node of an unknown op as it is in the file: missing operands and results keep their positions, bodies their order.
Result<void> GraphMaker::insert_unknown(Scope& scope, const OnnxNode& node, const ir::Op& op) {
  const std::string where = where_of(scope, node);
  for (const OnnxAttribute& a : node.attributes) TRY(check_kept(scope, a, node));
  NodeFields given = TRY(attributes(scope, node, opset_of(*scope.opsets, node.domain)));
  const ir::NodeId id = scope.graph.insert(op, TRY(operands(scope, node)), node.outputs.size(), std::move(given.attributes));
  scope.graph.set_name(id, scope.prefix + std::string(node.name));
  if (choices_.metadata && !node.metadata.empty()) TRY(metadata(scope, node, id));
  TRY(name_results(scope, node, id));
  for (uint32_t k = 0; k < node.outputs.size(); ++k)
    if (node.outputs[k].empty()) scope.graph.drop_result(id, k, /*keep_slot=*/true);
  for (const auto& [name, graph] : given.bodies) TRY(body(scope, id, name, *graph));
  return {};
}

/// Bodies are in the order of the op's schema, whatever the file's order.
Result<void> GraphMaker::attach(Scope& scope, ir::NodeId id, const Bodies& bodies, std::string_view where) {
  const ops::OpDef& def = ops::def_of(*scope.graph.node(id).op);
  size_t known = 0;
  for (const ops::AttributeSpec& spec : ops::attribute_specs(def)) {
    if (spec.kind != ops::AttributeSpec::Kind::graph) continue;
    auto at = std::ranges::find(bodies, spec.name, &Bodies::value_type::first);
    if (at == bodies.end() && !spec.required) continue;
    if (at == bodies.end())
      return fail(Code::bad_attribute, std::string(where), fmt::format("body '{}' is missing", spec.name))
          .expected(fmt::format("a graph as attribute '{}'", spec.name))
          .found("none");
    TRY(body(scope, id, at->first, *at->second));
    ++known;
  }
  if (known != bodies.size())
    return fail(Code::bad_attribute, std::string(where), "a body that the op does not have")
        .expected(fmt::format("{} bodies", known))
        .found(fmt::format("{} bodies", bodies.size()));
  return {};
}

Result<void> GraphMaker::node(Scope& scope, const OnnxNode& node) {
  TRY(count_expanded_values(node.outputs.size(), where_of(scope, node)));
  if (node.domain.empty() && node.op == "Constant") return constant(scope, node);
  if (const ir::Op* op = op_of(node, scope.graph.ops(), functions_)) return insert(scope, node, *op);
  if (const OnnxFunction* function = functions_.find(node)) return expand(scope, node, *function);
  return fail(Code::not_supported, where_of(scope, node), "not supported yet: this op")
      .expected("a known op, or a function of the model")
      .found(qualified(node.domain, node.op));
}

Result<void> GraphMaker::nodes(Scope& scope, const std::vector<OnnxNode>& list) {
  const std::vector<uint32_t> order = TRY(order_of(list));
  for (uint32_t i : order) {
    auto done = node(scope, list[i]);
    if (!done) return std::move(done).error().at(where_of(scope, list[i]));
  }
  return {};
}

Result<void> GraphMaker::bind(Scope& caller, Scope& inner, const OnnxNode& node, const OnnxFunction& function) {
  const std::string where = where_of(caller, node);
  if (node.inputs.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    return fail(Code::bad_graph, where, "a function is called with too many operands or results")
        .expected(fmt::format("at most {} and {}", function.inputs.size(), function.outputs.size()))
        .found(fmt::format("{} and {}", node.inputs.size(), node.outputs.size()));
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const ir::ValueId value = i < node.inputs.size() ? TRY(find(caller, node.inputs[i], where)) : ir::ValueId{};
    TRY(define(inner, function.inputs[i], value, where));
  }
  return {};
}

Result<void> GraphMaker::expand(Scope& scope, const OnnxNode& node, const OnnxFunction& function) {
  const std::string where = where_of(scope, node);
  DepthGuard level(function_depth_);
  if (function_depth_ > limits_.function_depth)
    return fail(Code::limit_exceeded, where, "functions call functions too deeply, or themselves")
        .expected(fmt::format("at most {} levels", limits_.function_depth))
        .found("more")
        .advice("look for a function that calls itself; ONNX forbids that");
  AttributeEnv env;
  for (const OnnxAttribute& a : function.defaults) env[a.name] = &a;
  for (const OnnxAttribute& a : node.attributes)
    if (const OnnxAttribute* value = TRY(resolve(scope, a, node))) env[a.name] = value;
  Scope inner{.graph = scope.graph, .opsets = &function.opsets, .env = &env, .prefix = {}, .names = {}, .captures = {}};
  inner.prefix = scope.prefix + std::string(node.name.empty() ? node.op : node.name) + "/";
  TRY(bind(scope, inner, node, function));
  TRY(nodes(inner, function.nodes));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    const ir::ValueId value = TRY(find(inner, function.outputs[i], where));
    if (!value)
      return fail(Code::bad_graph, where, fmt::format("result '{}' of the function is a missing input", function.outputs[i]))
          .expected("a value")
          .found("an optional input that the caller leaves out");
    TRY(define(scope, node.outputs[i], value, where));
    const std::string name = fresh_name(scope, node.outputs[i]);
    if (scope.graph.value(value).kind == ir::Value::Kind::result) scope.graph.set_name(value, name);
  }
  return {};
}

}  // namespace tenon::import
