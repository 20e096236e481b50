// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "import/export_writer.h"
#include "import/onnx_parse.h"
#include "import/onnx_schema.h"
#include "import/onnx_support.h"
#include "import/proto_writer.h"
#include "ir/builder.h"
#include "ops/core/op.h"

namespace tenon::import {

using protozero::pbf_writer;

namespace {

/// Domain of functions that replace ops of ONNX's own domain, which a model must not define.
constexpr std::string_view kOwnDomain = "tenon";
constexpr int kMaxDepth = 16;

Result<std::unique_ptr<ir::Graph>> definition_graph(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ops::OpDef& def = ops::def_of(*node.op);
  auto inner = ir::Graph::body_of(graph);
  std::vector<ir::ValueId> inputs;
  for (uint32_t i = 0; i < node.explicit_inputs; ++i)
    inputs.push_back(node.inputs[i] ? inner->add_input(fmt::format("in{}", i), graph.value(node.inputs[i]).type) : ir::ValueId{});
  ir::Builder build(*inner);
  const ir::NodeView view = graph.view(id);
  const std::vector<ir::ValueId> results = def.definition(build, view, inputs);
  if (!build.status()) return std::unexpected(build.status().error());
  if (results.empty())
    return fail(Code::not_supported, view.where(), "not supported yet: this case of the op at an opset that lacks it")
        .expected("an opset that has the op in this form")
        .advice("request a newer opset, or omit --opset");
  for (ir::ValueId r : results) {
    if (!r) return fail(Code::internal, view.where(), "the definition of the op leaves a result out");
    inner->add_output(r);
  }
  return inner;
}

/// The lowest opset whose Constant has this element type.
int64_t constant_opset(DType dtype) {
  for (const ops::OnnxSchema& version : ops::onnx_schemas("", "Constant"))
    if (version.outputs[0].types.contains(ir::Type(dtype))) return version.since;
  return kNoOpset;
}

/// A function has Constant nodes in place of initializers.
Result<void> check_constants(const ir::Graph& inner, TargetOpset target, int64_t& needed, const std::string& where) {
  for (ir::ValueId id : inner.values()) {
    const ir::Value& value = inner.value(id);
    if (!value.is_constant() || value.uses.empty()) continue;
    const int64_t lowest = constant_opset(value.constant->dtype);
    if (lowest > target.version && target.fixed)
      return fail(Code::not_supported, where, "the opset cannot say a constant in the definition of the op")
          .expected(fmt::format("opset {} or newer", lowest))
          .found(std::to_string(target.version))
          .advice("leave --opset out: the lowest one that works is chosen");
    needed = std::max(needed, lowest);
  }
  return {};
}

}  // namespace

/// The fields of a FunctionProto but for its name and attributes: equal for nodes that one function can serve.
Result<std::string> ExportWriter::definition(const ir::Graph& graph, ir::NodeId id, size_t& results) {
  auto inner = TRY(definition_graph(graph, id));
  needed = std::max(needed, TRY(lower_to_opset(*inner, target_)));
  TRY(check_constants(*inner, target_, needed, graph.view(id).where()));
  std::unordered_set<std::string> used;
  NameScope scope{.used = &used, .names = {}, .constants = {}, .copies = {}, .function = true};
  // A missing operand keeps its place among the inputs: the call has the name "" there.
  const ir::Node& node = graph.node(id);
  std::string out;
  name_values(*inner, scope, inner->inputs().size());
  for (uint32_t i = 0; i < node.explicit_inputs; ++i) pbf_writer(out).add_string(schema::function::kInput, fmt::format("in{}", i));
  TRY(constants(out, *inner, scope, false));
  TRY(nodes(out, schema::function::kNode, *inner, scope));
  for (const std::string& name : TRY(outputs(out, schema::function::kNode, *inner, scope, false)))
    pbf_writer(out).add_string(schema::function::kOutput, name);
  results = inner->outputs().size();
  return out;
}

Result<ExportWriter::Call> ExportWriter::call(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const std::string where = graph.view(id).where();
  DepthGuard level(depth_);
  if (depth_ > kMaxDepth) return fail(Code::internal, where, "definitions of ops use each other without end");
  Call out{node.op->domain.empty() ? std::string(kOwnDomain) : node.op->domain, node.op->name, {}};
  std::string body = TRY(definition(graph, id, out.results));
  if (out.results < node.outputs.size()) return fail(Code::internal, where, "the definition of the op has too few results");
  for (const auto& [name, value] : node.attributes) pbf_writer(body).add_string(schema::function::kAttribute, name);
  const std::string name = qualified(out.domain, out.name);
  auto [at, fresh] = overload_of_.emplace(std::pair(name, body), std::string());
  if (fresh) {
    const int variant = variants_[name]++;
    if (variant > 0) at->second = std::to_string(variant);
    overloads |= variant > 0;
    pbf_writer f(body);
    f.add_string(schema::function::kName, out.name);
    f.add_string(schema::function::kDomain, out.domain);
    if (!at->second.empty()) f.add_string(schema::function::kOverload, at->second);
    f.add_message(schema::function::kOpsetImport, opset_message("", target_.version));
    // A definition may call other fused ops; importing a domain that a function does not use does no harm.
    for (const auto& [domain, version] : domains) f.add_message(schema::function::kOpsetImport, opset_message(domain, version));
    functions.push_back(std::move(body));
  }
  out.overload = at->second;
  return out;
}

}  // namespace tenon::import
