// SPDX-License-Identifier: Apache-2.0
#include "compiler/unknown_ops.h"

#include <fmt/format.h>

#include <map>

namespace tenon::compiler {

namespace {

struct Survey {
  const backend::Backends& backends;
  std::map<std::string, int64_t> missing = {};
  std::string why = {};  ///< of the first

  Result<void> visit(const ir::Graph& graph) {
    for (const ir::NodeId id : graph.nodes()) {
      if (graph.node(id).op->unknown) TRY(visit(graph, id));
      for (const ir::Body& body : graph.node(id).bodies) TRY(visit(*body.graph));
    }
    return {};
  }

 private:
  static Result<void> check_types(const ir::NodeView& view) {
    for (const ir::Type& type : view.outputs)
      if (type.is_tensor() && type.dtype == DType::none)
        return fail(Code::bad_graph, view.where(), "a result of an op that Tenon does not know has no type")
            .expected("a type for each result, in the model's value_info")
            .found(type.text())
            .advice("declare the types of its results when the model is written");
    return {};
  }

  Result<void> visit(const ir::Graph& graph, ir::NodeId id) {
    const ir::NodeView view = graph.view(id);
    for (const backend::Backend* b : backends) {
      if (!b->runs_unknown_ops()) continue;
      TRY(check_types(view));
      const auto taken = b->supports(graph, id);
      if (taken) return {};
      if (taken.error().code() != Code::not_supported) return std::unexpected(taken.error());
      if (why.empty()) why = "; " + taken.error()->what;
    }
    ++missing[view.op->domain.empty() ? std::string(view.op->name) : fmt::format("{}::{}", view.op->domain, view.op->name)];
    return {};
  }
};

}  // namespace

Result<void> check_unknown_ops(const ir::Graph& graph, const backend::Backends& backends) {
  Survey survey{backends};
  TRY(survey.visit(graph));
  if (survey.missing.empty()) return {};
  std::string list;
  for (const auto& [op, count] : survey.missing) list += fmt::format("{}{} ({}x)", list.empty() ? "" : ", ", op, count);
  return fail(Code::not_supported, "", fmt::format("not supported yet: {} of the model's ops", survey.missing.size()))
      .expected("ops that Tenon or a listed backend has, or functions defined in the model")
      .found(list + survey.why)
      .advice("give the library that has them (--custom-ops), or export the model with these ops as local functions");
}

}  // namespace tenon::compiler
