// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_support.h"

#include <set>

#include <fmt/format.h>

#include "base/nearest.h"
#include "ops/core/op.h"

namespace tenon::import {
namespace {

/// Counts the nodes of unknown ops; each used function is visited once.
struct UnknownOpCounter {
  const FunctionTable& functions;
  const ir::OpTable& ops;
  std::map<std::string, int64_t> missing;
  std::set<const OnnxFunction*> visited;
  std::vector<const OnnxFunction*> to_do;

  void visit(const std::vector<OnnxNode>& nodes) {
    for (const OnnxNode& node : nodes) {
      for (const OnnxAttribute& a : node.attributes)
        if (a.graph) visit(a.graph->nodes);
      if (op_of(node, ops, functions) || (node.domain.empty() && node.op == "Constant")) continue;
      if (const OnnxFunction* f = functions.find(node)) {
        if (visited.insert(f).second) to_do.push_back(f);
      } else {
        ++missing[qualified(node.domain, node.op)];
      }
    }
  }
};

Error missing_ops(std::string_view file, const std::map<std::string, int64_t>& missing) {
  std::vector<std::string> known;
  for (const ops::OpDef* def : ops::all_ops()) known.push_back(qualified(def->domain, def->name));
  std::string list, near;
  for (const auto& [op, count] : missing) {
    list += fmt::format("{}{} ({}x)", list.empty() ? "" : ", ", op, count);
    if (const std::string name = nearest_name(op, known); !name.empty())
      near += fmt::format("{}'{}' for '{}'", near.empty() ? "did you mean " : ", ", name, op);
  }
  if (!near.empty()) near += "? Else ";
  return fail(Code::not_supported, std::string(file), fmt::format("not supported yet: {} of the model's ops", missing.size()))
      .expected("known ops, or functions defined in the model")
      .found(std::move(list))
      .advice(near + "name the library of plugins that has them (--plugin LIB), or export the model with these ops as local functions");
}

/// The namespace that tenon/trt.hpp gives plugins without one. Nodes that TensorRT's exporters write refer to it, whatever their domain.
constexpr std::string_view kNoNamespace = "trt.plugins";

std::string_view text_of(const OnnxNode& node, std::string_view attribute) {
  const OnnxAttribute* const a = node.find(attribute);
  return a ? a->string : std::string_view();
}

/// The plugin that the attributes plugin_namespace and plugin_version name, as TensorRT's exporters write them; null: they name none.
const ir::Op* plugin_named_by(const OnnxNode& node, const ir::OpTable& ops) {
  const std::string_view name_space = text_of(node, "plugin_namespace"), version = text_of(node, "plugin_version");
  if (name_space.empty() && version.empty()) return nullptr;
  for (std::string_view domain : {name_space.empty() ? node.domain : name_space, kNoNamespace}) {
    if (domain.empty()) continue;
    const ir::Op* const exact = version.empty() ? nullptr : ops.find(domain, fmt::format("{}${}", node.op, version));
    const ir::Op* const op = exact ? exact : ops.find(domain, node.op);
    if (op && !op->unknown) return op;
  }
  return nullptr;
}

}  // namespace

std::string qualified(std::string_view domain, std::string_view name) {
  return domain.empty() ? std::string(name) : fmt::format("{}::{}", domain, name);
}

Result<void> FunctionTable::fill(const OnnxModel& model) {
  for (const OnnxFunction& f : model.functions)
    if (!functions_.emplace(std::tuple(f.domain, f.name, f.overload), &f).second)
      return fail(Code::bad_graph, fmt::format("function '{}'", qualified(f.domain, f.name)), "two functions have one name")
          .expected("one function for each domain, name and overload")
          .found("an earlier one");
  return {};
}

const OnnxFunction* FunctionTable::find(const OnnxNode& node) const {
  auto at = functions_.find({node.domain, node.op, node.overload});
  return at == functions_.end() ? nullptr : at->second;
}

/// Calls alone say an overload: no op has one.
const ir::Op* op_of(const OnnxNode& node, const ir::OpTable& ops, const FunctionTable& functions) {
  if (const ir::Op* const plugin = plugin_named_by(node, ops)) return plugin;
  const ir::Op* op = ops.find(node.domain, node.op);
  if (!op) return functions.find(node) || !node.overload.empty() ? nullptr : ops.find(kNoNamespace, node.op);
  if (!op->unknown) return op;
  return functions.find(node) || !node.overload.empty() ? nullptr : op;
}

int64_t opset_of(const std::vector<OnnxOpset>& opsets, std::string_view domain) {
  for (const OnnxOpset& o : opsets)
    if (o.domain == domain) return o.version;
  return 0;
}

Result<std::vector<std::string>> check_support(const OnnxModel& model, const FunctionTable& functions, const ir::OpTable& ops,
                                               std::string_view file) {
  UnknownOpCounter census{functions, ops, {}, {}, {}};
  census.visit(model.graph.nodes);
  std::vector<std::string> warnings;
  const auto check_opset = [&](const std::vector<OnnxOpset>& opsets, std::string_view where) -> Result<void> {
    const int64_t version = opset_of(opsets, "");
    if (version != 0 && version < schema::kOldestOpset)
      return fail(Code::not_supported, std::string(where), fmt::format("not supported yet: opset {}", version))
          .expected(fmt::format("opset {} to {}", schema::kOldestOpset, schema::kNewestOpset))
          .found(fmt::format("opset {}", version))
          .advice("convert it with onnx.version_converter");
    if (version > schema::kNewestOpset)
      warnings.push_back(fmt::format("{}: opset {} is newer than the newest known ({}); ops are read by their newest known definition",
                                     where, version, schema::kNewestOpset));
    return {};
  };
  TRY(check_opset(model.opsets, file));
  while (!census.to_do.empty()) {
    const OnnxFunction* f = census.to_do.back();
    census.to_do.pop_back();
    TRY(check_opset(f->opsets, fmt::format("function '{}'", qualified(f->domain, f->name))));
    census.visit(f->nodes);
  }
  if (!census.missing.empty()) return missing_ops(file, census.missing);
  if (model.ir_version > schema::kNewestIrVersion)
    warnings.push_back(fmt::format("IR version {} is newer than the newest known ({})", model.ir_version, schema::kNewestIrVersion));
  return warnings;
}

}  // namespace tenon::import
