// SPDX-License-Identifier: Apache-2.0
#include "compiler/build_partitioned.h"

#include <utility>

#include "base/threads/thread_pool.h"
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
  r.groups = c.plan.groups.size();
  r.kernels = c.built.kernels.size();
  r.steps = c.built.programs[0].steps.size();
  r.weight_bytes = c.built.programs.weight_bytes;
  r.code_bytes = c.code.bytes.size();
  for (const auto& of_device : c.built.device_ops) ++r.device_ops[of_device];
}

using Programs = std::vector<program::LoweredProgram>;

/// Adds the lowered programs of an entry's fallbacks. `entry`: its number.
Result<void> lower_fallbacks(std::span<PartitionedFallback> fallbacks, uint32_t entry, const codegen::Target& target, Programs& out) {
  for (PartitionedFallback& f : fallbacks) {
    std::vector<partition::FailedSegment> failed_segments;
    out.push_back({.role = runtime::Role::fallback,
                   .condition = f.condition,
                   .entry = entry,
                   .lowered = TRY(lower_partition(f.partitioned, f.options, target, failed_segments))});
  }
  return {};
}

std::vector<FallbackGraph> graphs_of(std::span<PartitionedFallback> fallbacks) {
  std::vector<FallbackGraph> out;
  for (PartitionedFallback& f : fallbacks) out.push_back({f.condition, std::move(f.partitioned.graph)});
  return out;
}

/// The graphs that segments of plugins run, as further programs.
Result<void> lower_inner_graphs(InnerGraphs& inner, Programs& programs) {
  for (program::LoweredProgram& p : programs)
    if (p.condition != runtime::Condition::plugin_missing) TRY(inner.lower_graphs_of(p.lowered));
  for (program::LoweredGraph& graph : inner.take()) programs.push_back({.role = runtime::Role::inner_graph, .lowered = std::move(graph)});
  return {};
}

}  // namespace

Result<Compiled> build_partitioned(std::vector<PartitionedEntry> entries, const CompileOptions& options, StepClock& clock) {
  Compiled out;
  PartitionedGraph& first = entries[0].partitioned;
  const codegen::Target& target = options.target ? *options.target : *TRY(codegen::target_for());
  clock.begin("plan and lower");
  Programs programs;
  for (PartitionedEntry& e : entries) {
    out.report.nodes_before += e.partitioned.nodes_before;
    out.report.nodes_after += e.partitioned.graph->node_count();
    std::vector<partition::FailedSegment> failed_segments;
    programs.push_back({.name = e.name, .lowered = TRY(lower_partition(e.partitioned, options, target, failed_segments))});
    if (&e == &entries[0]) out.failed_segments = std::move(failed_segments);
  }
  std::vector<codegen::Plan> plans;
  for (const program::LoweredProgram& p : programs) plans.push_back(p.lowered.kernels.plan);
  out.report.guessed_shares = guessed_shares(programs[0].lowered, first.backends.all);
  for (uint32_t k = 0; k < entries.size() && !options.portable; ++k) TRY(lower_fallbacks(entries[k].fallbacks, k, target, programs));
  InnerGraphs inner(options, first.backends, first.graph->ops(), target);
  TRY(lower_inner_graphs(inner, programs));
  clock.begin("link");
  out.built = TRY(program::build(std::move(programs)));
  TRY(check_segments(out.built, (options.registry ? *options.registry : default_registry()).devices(first.graph->ops())));
  if (!options.plan_only) {
    clock.begin("generate");
    const codegen::Target& least = codegen::least_target(out.built.kernels, target);
    out.code = TRY(codegen::emit(out.built.kernels, least, options.threads > 0 ? options.threads : default_thread_pool().size()));
  }
  out.ops = &first.graph->ops();
  out.registry = options.registry;
  out.backends = std::move(first.backends);
  out.graph = std::move(first.graph);
  out.fallbacks = graphs_of(entries[0].fallbacks);
  out.plan = std::move(plans[0]);
  for (size_t k = 1; k < entries.size(); ++k) {
    PartitionedEntry& e = entries[k];
    out.other_entries.push_back({std::move(e.name), std::move(e.partitioned.graph), graphs_of(e.fallbacks), std::move(plans[k])});
  }
  out.partition = std::move(first.partition);
  fill_report(out);
  return out;
}

Result<Compiled> build_partitioned(PartitionedGraph entry, const CompileOptions& options, StepClock& clock) {
  std::vector<PartitionedEntry> entries;
  entries.push_back({.partitioned = std::move(entry)});
  return build_partitioned(std::move(entries), options, clock);
}

}  // namespace tenon::compiler
