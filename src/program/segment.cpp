// SPDX-License-Identifier: Apache-2.0
#include "program/segment.h"

#include "base/threads/thread_pool.h"
#include "program/build.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::program {

namespace {

/// Refuses groups other than kernels, sizes and checks, which only the host runs.
Result<void> check_groups(const ir::Graph& graph, const codegen::Plan& plan) {
  using codegen::GroupKind;
  for (const codegen::Group& g : plan.groups)
    if (g.kind() == GroupKind::control || g.kind() == GroupKind::packed_rows || g.kind() == GroupKind::segment)
      return fail(Code::not_supported, g.node ? graph.view(g.node).where() : graph.name,
                  "not supported yet: a step without a kernel in a segment of a kernel backend")
          .expected("nodes that kernels run")
          .advice("let the backend's supports() refuse such nodes");
  return {};
}

/// outer: symbols whose values the program passes that runs the segment.
Result<LinkedPrograms> link(const ir::Graph& graph, const backend::Options& options, const codegen::Target& target,
                            std::vector<const DimNode*> outer) {
  backend::Options segment_options = options;
  segment_options.planning.outer_symbols = std::move(outer);
  segment_options.planning.carried.reset();  // a segment in a body is a whole graph to its backend
  LoweredGraph lowered;
  lowered.graph = &graph;
  lowered.kernels = TRY(backend::make_kernels({graph}, segment_options, target));
  lowered.is_segment = true;
  TRY(check_groups(graph, lowered.kernels.plan));
  return build(std::move(lowered));
}

/// Links without outer symbols if all sizes follow from those of the operands: the program that runs the segment may not know the others.
Result<LinkedPrograms> link(const ir::Graph& graph, const backend::Options& options, const codegen::Target& target) {
  auto built = link(graph, options, target, {});
  if (built || built.error().code() != Code::not_supported) return built;
  std::vector<const DimNode*> outer = outer_symbols(graph);
  return outer.empty() ? std::move(built) : link(graph, options, target, std::move(outer));
}

}  // namespace

runtime::CodeSection code_section(codegen::MachineCode code) {
  runtime::CodeSection out{
      .target = code.target->tag, .cpu_features = code.target->needs(), .bytes = std::move(code.bytes), .kernel_offsets = {}};
  for (const codegen::CodeEntry& e : code.entries) out.kernel_offsets.push_back(e.offset);
  return out;
}

std::vector<const DimNode*> outer_symbols(const ir::Graph& graph) {
  std::vector<const DimNode*> out;
  for (Dim d : graph.symbols().all()) out.push_back(d.node());
  for (ir::ValueId v : graph.inputs())
    if (const ir::Type& type = graph.value(v).type; type.is_tensor() && type.has_rank())
      for (Dim d : *type.shape) std::erase(out, d.node());
  return out;
}

Result<backend::Blob> compile_segment(const ir::Graph& graph, std::string_view backend, const backend::Options& options,
                                      const codegen::Target& target) {
  const auto chosen = options.targets.find(backend);
  const codegen::Target& used = chosen == options.targets.end() ? target : *chosen->second;
  LinkedPrograms built = TRY(link(graph, options, used));
  runtime::KernelBlob blob{.programs = std::move(built.programs), .code = {}, .weight_offsets = {}, .outer_sizes = 0};
  backend::Blob out;
  for (Dim d : built.outer) out.sizes.push_back(d.node()->name);
  blob.outer_sizes = static_cast<uint32_t>(out.sizes.size());
  for (const PlacedConstant& w : built.weights) {
    out.weights.push_back(w.constant);
    blob.weight_offsets.push_back(w.offset);
  }
  blob.code.push_back(code_section(TRY(codegen::emit(built.kernels, used, default_thread_pool().size()))));
  out.bytes = runtime::encode(blob);
  return out;
}

}  // namespace tenon::program
