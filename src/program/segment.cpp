// SPDX-License-Identifier: Apache-2.0
#include "program/segment.h"

#include "base/threads/thread_pool.h"
#include "codegen/llvm/emit.h"
#include "program/build.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::program {

namespace {

/// Kernels and lines of the size table alone: what else a plan has is for the host.
Result<void> check_groups(const ir::Graph& graph, const codegen::Plan& plan) {
  using codegen::GroupKind;
  for (const codegen::Group& g : plan.groups)
    if (g.kind() == GroupKind::control || g.kind() == GroupKind::rows || g.kind() == GroupKind::segment)
      return fail(Code::not_supported, g.node ? graph.view(g.node).where() : graph.name,
                  "not supported yet: a step without a kernel in a segment of a kernel backend")
          .expected("nodes that kernels run")
          .advice("let the backend's supports() refuse such nodes");
  return {};
}

backend::Options own_options(const backend::Options& options) {
  backend::Options out = options;
  out.planning.given.clear();  // a segment in a body is a whole graph to its backend
  out.planning.carried.reset();
  return out;
}

runtime::CodeSection section_of(codegen::MachineCode code) {
  runtime::CodeSection out{.target = code.target->tag, .needs = code.target->needs(), .bytes = std::move(code.bytes), .entries = {}};
  for (const codegen::CodeEntry& e : code.entries) out.entries.push_back(e.offset);
  return out;
}

}  // namespace

Result<backend::Blob> compile_segment(const ir::Graph& graph, std::string_view backend, const backend::Options& options,
                                      const codegen::Target& target) {
  const auto chosen = options.targets.find(backend);
  const codegen::Target& own = chosen == options.targets.end() ? target : *chosen->second;
  Lowered lowered;
  lowered.graph = &graph;
  lowered.kernels = TRY(backend::make_kernels({graph}, own_options(options), own));
  lowered.is_segment = true;
  TRY(check_groups(graph, lowered.kernels.plan));
  Built built = TRY(build(std::move(lowered)));
  runtime::KernelBlob blob{.programs = std::move(built.programs), .code = {}, .weights = {}};
  backend::Blob out;
  for (const PlacedConstant& w : built.weights) {
    out.weights.push_back(w.constant);
    blob.weights.push_back(w.offset);
  }
  blob.code.push_back(section_of(TRY(codegen::emit(built.kernels, own, default_thread_pool().size()))));
  out.bytes = runtime::encode(blob);
  return out;
}

}  // namespace tenon::program
