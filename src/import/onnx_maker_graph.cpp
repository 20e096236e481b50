// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "import/onnx_maker.h"
#include "import/onnx_parse.h"
#include "ir/port_names.h"

namespace tenon::import {

/// The input of the root that the initializer is the default of. Its declared sizes may be open, those of the default are numbers.
Result<ir::ValueId> GraphMaker::defaulted_input(Scope& scope, const OnnxValueInfo& input, ir::ConstantRef value, const std::string& where) {
  ir::Type type = TRY(types_.input_type(input));
  if (type.dtype == DType::none) type.dtype = value->dtype;
  bool fits = type.dtype == value->dtype && type.is_tensor() && (!type.has_rank() || type.shape->size() == value->shape.size());
  for (size_t k = 0; fits && type.has_rank() && k < value->shape.size(); ++k)
    fits = !(*type.shape)[k].is_number() || (*type.shape)[k] == Dim(value->shape[k]);
  if (!fits)
    return fail(Code::bad_graph, where, "the initializer is no default of the input of its name")
        .expected(type.text())
        .found(type_text(value->dtype, value->shape));
  const ir::ValueId id = scope.graph.add_input(fresh_name(scope, input.name), std::move(type));
  scope.graph.set_default(id, std::move(value));
  return id;
}

Result<void> GraphMaker::initializers(Scope& scope, const OnnxGraph& source, bool root) {
  struct Default {
    const OnnxValueInfo* input;
    ir::ConstantRef value;
    std::string where;
  };
  std::vector<Default> defaults;
  const auto add = [&](std::string_view name, Result<ir::ConstantRef> weight) -> Result<void> {
    const std::string where = fmt::format("initializer '{}'", name);
    if (!weight) return std::move(weight).error().at(where);
    TRY(count_expanded_values(1, where));
    const auto input = defaulted_.find(name);
    if (root && input != defaulted_.end() && !choices_.freeze_defaults) {
      defaults.push_back({input->second, *std::move(weight), where});
      return {};
    }
    return define(scope, name, scope.graph.add_constant(*std::move(weight), fresh_name(scope, name)), where);
  };
  for (const OnnxTensor& t : source.initializers) TRY(add(t.name, tensors_.weight(t, choices_.weights_by_reference)));
  for (const OnnxSparse& s : source.sparse_initializers) {
    auto dense = tensors_.read(s);
    TRY(add(s.values.name,
            dense ? Result<ir::ConstantRef>(ir::constant_of(*std::move(dense))) : std::unexpected(std::move(dense).error())));
  }
  std::ranges::sort(defaults, {}, &Default::input);  // in the order of the model's inputs, which lie in one vector
  for (Default& d : defaults)
    TRY(define(scope, d.input->name, TRY(defaulted_input(scope, *d.input, std::move(d.value), d.where)), d.where));
  return {};
}

/// An input of the root that has an initializer is a constant before IR version 4; since then the initializer is its default.
Result<void> GraphMaker::inputs(Scope& scope, const OnnxGraph& source, bool root) {
  std::unordered_set<std::string_view> given;
  for (const OnnxTensor& t : source.initializers) given.insert(t.name);
  for (const OnnxSparse& s : source.sparse_initializers) given.insert(s.values.name);
  for (const OnnxValueInfo& input : source.inputs) {
    const std::string where = fmt::format("input '{}'", input.name);
    if (input.name.empty()) return fail(Code::bad_graph, where, "an input has no name").expected("a name").found("\"\"");
    if (given.contains(input.name)) {
      if (!root || ir_version_ < 4) continue;
      defaulted_.emplace(input.name, &input);
      if (choices_.freeze_defaults) warnings_.push_back(where + " has a default value and is taken as a constant");
      continue;
    }
    TRY(count_expanded_values(1, where));
    ir::Type type = root ? TRY(types_.input_type(input)) : TRY(types_.type(input.type, input.name));
    TRY(define(scope, input.name, scope.graph.add_input(fresh_name(scope, input.name), std::move(type)), where));
  }
  return {};
}

Result<void> GraphMaker::fill(Scope& scope, const OnnxGraph& source, bool root) {
  scope.graph.name = std::string(source.name);
  TRY(inputs(scope, source, root));
  TRY(initializers(scope, source, root));
  auto& hints = notes_.graphs[&scope.graph].hints;
  for (const OnnxValueInfo& v : source.value_info) hints.emplace(v.name, &v.type);
  for (const OnnxValueInfo& v : source.outputs) hints.insert_or_assign(v.name, &v.type);
  TRY(nodes(scope, source.nodes));
  std::unordered_set<std::string_view> named;
  for (const OnnxValueInfo& output : source.outputs) {
    const std::string where = fmt::format("output '{}'", output.name);
    if (root && !named.insert(output.name).second) return ir::port_name_taken("output", output.name);
    const ir::ValueId value = TRY(find(scope, output.name, where));
    if (!value) return fail(Code::bad_graph, where, "an output has no value").expected("the name of a value").found("\"\"");
    scope.graph.add_output(value, std::string(output.name));
  }
  return {};
}

Result<void> GraphMaker::make(const OnnxModel& model, ir::Graph& graph) {
  ir_version_ = model.ir_version;
  Scope scope{.graph = graph, .opsets = &model.opsets, .prefix = {}, .names = {}, .captures = {}};
  return fill(scope, model.graph, true);
}

Result<void> GraphMaker::body(Scope& scope, ir::NodeId node, std::string_view name, const OnnxGraph& source) {
  DepthGuard level(body_depth_);
  if (body_depth_ > limits_.graph_depth)
    return fail(Code::limit_exceeded, fmt::format("body '{}'", name), "bodies within bodies once functions are expanded")
        .expected(fmt::format("at most {} levels", limits_.graph_depth))
        .found("more");
  auto graph = ir::Graph::body_of(scope.graph);
  Scope inner{.graph = *graph, .outer = &scope, .opsets = scope.opsets, .env = scope.env, .prefix = {}, .names = {}, .captures = {}};
  TRY(fill(inner, source, false));
  scope.graph.attach_body(node, std::string(name), std::move(graph), inner.captures);
  return {};
}

}  // namespace tenon::import
