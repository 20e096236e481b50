// SPDX-License-Identifier: Apache-2.0
#include "compiler/build_partitioned.h"

#include <utility>

#include "base/thread_pool.h"
#include "compiler/check_segments.h"
#include "compiler/guessed_shares.h"
#include "compiler/inner_graphs.h"
#include "compiler/lower_partition.h"

namespace tenon::compiler {

void StepClock::begin(std::string name) {
  end_step();
  if (options_.progress) options_.progress(name);
  name_ = std::move(name);
  start_ = std::chrono::steady_clock::now();
}

void StepClock::end_step() {
  if (name_.empty()) return;
  const std::chrono::duration<double, std::milli> ms = std::chrono::steady_clock::now() - start_;
  times_.push_back({std::exchange(name_, {}), ms.count()});
}

std::vector<StepTime> StepClock::end() {
  end_step();
  return std::move(times_);
}

namespace {

void fill_report(Compiled& c) {
  CompileReport& r = c.report;
  r.nodes_after = c.graph->node_count();
  r.groups = c.plan.groups.size();
  r.kernels = c.built.kernels.size();
  r.steps = c.built.programs[0].steps.size();
  r.weight_bytes = c.built.programs.weight_bytes;
  r.code_bytes = c.code.bytes.size();
  for (const auto& of_device : c.built.ops_of_devices) ++r.ops_of_devices[of_device];
}

/// Programs of the table to link: the entry, its fallbacks, and the graphs that segments of plugins run. They point into `entry`,
/// `fallbacks` and `inner`.
Result<std::vector<program::LoweredProgram>> lower_all(program::Lowered lowered, std::span<PartitionedFallback> fallbacks,
                                                       InnerGraphs& inner, const codegen::Target& target) {
  std::vector<program::LoweredProgram> out;
  out.push_back({.name = "main", .lowered = std::move(lowered)});
  for (PartitionedFallback& f : fallbacks) {
    std::vector<partition::HandedBack> moved;
    out.push_back({.role = runtime::Role::fallback,
                   .condition = f.condition,
                   .lowered = TRY(lower_partition(f.partitioned, f.options, target, moved))});
  }
  for (program::LoweredProgram& p : out)
    if (p.condition != runtime::Condition::plugin_missing) TRY(inner.lower_of(p.lowered));
  for (program::Lowered& graph : inner.take()) out.push_back({.role = runtime::Role::inner_graph, .lowered = std::move(graph)});
  return out;
}

}  // namespace

Result<Compiled> build_partitioned(PartitionedGraph entry, const CompileOptions& options, StepClock& clock,
                                   std::vector<PartitionedFallback> fallbacks) {
  Compiled out;
  const codegen::Target& target = options.target ? *options.target : *TRY(codegen::target_for());
  out.report.nodes_before = entry.nodes_before;
  clock.begin("plan and lower");
  program::Lowered lowered = TRY(lower_partition(entry, options, target, out.handed_back));
  out.plan = lowered.kernels.plan;
  out.report.guessed_shares = guessed_shares(lowered, entry.backends.all);
  InnerGraphs inner(options, entry.backends, entry.graph->ops(), target);
  const std::span<PartitionedFallback> compiled_here = options.portable ? std::span<PartitionedFallback>() : std::span(fallbacks);
  out.built = TRY(program::build(TRY(lower_all(std::move(lowered), compiled_here, inner, target))));
  TRY(check_segments(out.built, (options.registry ? *options.registry : usual_registry()).devices(entry.graph->ops())));
  clock.begin("generate");
  const codegen::Target& least = codegen::least_target(out.built.kernels, target);
  out.code = TRY(codegen::emit(out.built.kernels, least, options.threads > 0 ? options.threads : default_thread_pool().size()));
  out.ops = &entry.graph->ops();
  out.registry = options.registry;
  out.backends = std::move(entry.backends);
  out.graph = std::move(entry.graph);
  for (PartitionedFallback& f : fallbacks) out.fallbacks.push_back({f.condition, std::move(f.partitioned.graph)});
  out.partition = std::move(entry.partition);
  fill_report(out);
  return out;
}

}  // namespace tenon::compiler
