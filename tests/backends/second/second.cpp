// SPDX-License-Identifier: Apache-2.0
#include "second.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/work.h"
#include "base/hash.h"
#include "codegen/collect/role.h"
#include "program/segment.h"

namespace tenon::tests {

std::string result_name(const ir::Graph& graph, ir::NodeId node) {
  for (ir::ValueId v : graph.node(node).outputs)
    if (v) return graph.value(v).name;
  return {};
}

Takes random_share(uint64_t seed, unsigned percent) {
  return [seed, percent](const ir::Graph& graph, ir::NodeId node) {
    const std::string text = fmt::format("{} {} {} {}", seed, graph.node(node).op->name, result_name(graph, node), node.slot());
    return std::hash<std::string>()(text) % 100 < percent;
  };
}

Result<void> check_kernel_node(const ir::Graph& graph, ir::NodeId node) {
  using codegen::RoleKind;
  const ir::NodeView view = graph.view(node);
  const RoleKind kind = TRY(codegen::role_of(graph, node)).kind;
  if (kind != RoleKind::loops && kind != RoleKind::same_bytes && kind != RoleKind::attention)
    return fail(Code::not_supported, view.where(), "the host runs size computations, control flow and packed rows");
  return {};
}

Result<void> Second::supports(const ir::Graph& graph, ir::NodeId node) const {
  if (!takes_(graph, node)) return fail(Code::not_supported, graph.view(node).where(), "it is not in the share of second");
  return check_kernel_node(graph, node);
}

double Second::cost(const ir::Graph& graph, ir::NodeId node) const {
  const backend::Work work = backend::work_of(graph, node);
  return std::max(work.steps / 16, work.bytes / 10);
}

const codegen::Target* Second::kernel_target() const {
  static const codegen::Target* const target = *codegen::target_named("x86_avx2");
  return target;
}

Result<backend::Artifact> Second::compile(const backend::CompileRequest& request, const backend::Options& options) const {
  auto blob = TRY(program::compile_segment(request.graph, name(), options, *kernel_target()));
  const std::lock_guard held(lock_);
  for (ir::NodeId n : request.graph.nodes()) compiled_.insert(result_name(request.graph, n));
  return blob;
}

std::set<std::string> Second::compiled() const {
  const std::lock_guard held(lock_);
  return compiled_;
}

}  // namespace tenon::tests
