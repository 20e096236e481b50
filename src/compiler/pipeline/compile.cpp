// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <malloc.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "codegen/passes/pipeline.h"
#include "compiler/backends.h"
#include "compiler/build_partitioned.h"
#include "compiler/fallbacks.h"
#include "compiler/measure/calibration.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/partition_by_measuring.h"
#include "compiler/measure/plugins/choose_plugin_ways.h"
#include "compiler/place_weights.h"
#include "compiler/rewrite_and_partition.h"
#include "passes/pipeline.h"
#include "program/segment.h"

namespace tenon::compiler {

namespace {

Result<void> check_entries(std::span<const EntrySource> entries) {
  std::set<std::string_view> names;
  for (const EntrySource& e : entries)
    if (e.name.empty() || !names.insert(e.name).second)
      return fail(Code::bad_usage, "entry '" + e.name + "'", "each entry needs a name of its own")
          .expected("names that differ")
          .found("'" + e.name + "' twice, or no name");
  return {};
}

/// The backends with the overheads that a calibration measured.
BackendsInUse calibrated(const BackendsInUse& backends, const Calibration& calibration) {
  std::vector<KnownCosts> known(backends.all.size());
  for (size_t b = 0; b < backends.all.size(); ++b) known[b].overheads = calibration.find(*backends.all[b]);
  return with_known_costs(backends, known);
}

/// Rewrites and partitions a graph, by measurements where `options` request them.
Result<PartitionedGraph> partition_by_options(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  const bool by_cost = options.constraints.assign == partition::Assign::cost;
  PartitionedGraph out = TRY(rewrite_graph(std::move(graph), options));
  if (options.measuring) TRY(choose_plugin_ways(out, options));
  if (options.calibration && by_cost) out.backends = calibrated(out.backends, *options.calibration);
  TRY(partition_rewritten(out, options));
  if (options.measuring && by_cost) TRY(partition_by_measuring(out, options));
  return out;
}

/// Rewrites and partitions the graph of an entry and those of its fallbacks.
Result<PartitionedEntry> partition_entry(EntrySource entry, const CompileOptions& options, CompileReport& report) {
  TRY(add_fallback_graphs(entry.source, options));
  PartitionedEntry out{.name = std::move(entry.name)};
  out.partitioned = TRY(partition_by_options(std::move(entry.source.graph), options));
  out.fallbacks = TRY(partition_fallbacks(std::move(entry.source.fallbacks), out.partitioned, options, report.warnings));
  std::ranges::move(out.partitioned.measured, std::back_inserter(report.measured));
  return out;
}

/// The steps of a build, in order. Errors: those of compile(), without the model's file.
Result<Compiled> compile_steps(std::vector<EntrySource> sources, const CompileOptions& options) {
  TRY(check_entries(sources));
  StepClock clock(options);
  CompileReport report;
  clock.begin("rewrite");
  std::vector<PartitionedEntry> entries;
  for (EntrySource& source : sources) entries.push_back(TRY(partition_entry(std::move(source), options, report)));
  Compiled out = TRY(build_partitioned(std::move(entries), options, clock));
  TRY(options.tactics.check_used());
  out.report.measured = std::move(report.measured);
  out.report.warnings = std::move(report.warnings);
  out.report.times = clock.end();
  return out;
}

}  // namespace

std::vector<PassName> pass_names() {
  std::vector<PassName> out;
  const auto add = [&](const auto& pass) {
    if (std::ranges::none_of(out, [&](const PassName& p) { return p.name == pass.name; })) out.push_back({pass.name, pass.docs});
  };
  for (const passes::Pass& p : passes::pipeline()) add(p);
  for (const codegen::PlanPass& p : codegen::plan_passes()) add(p);
  return out;
}

Result<PartitionedGraph> partition_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  auto partitioned = partition_by_options(std::move(graph), options);
  if (!partitioned) return std::move(partitioned).error().at(options.source);
  return partitioned;
}

Result<Compiled> compile(std::vector<EntrySource> entries, const CompileOptions& options) {
  auto compiled = compile_steps(std::move(entries), options);
  if (!compiled) return std::move(compiled).error().at(options.source);
  return compiled;
}

Result<Compiled> compile(Source source, const CompileOptions& options) {
  std::vector<EntrySource> one;
  one.push_back({"main", std::move(source)});
  return compile(std::move(one), options);
}

Result<std::shared_ptr<runtime::Engine>> load_compiled(Compiled compiled, const runtime::Devices& devices, std::string missing) {
  runtime::EngineParts parts;
  parts.missing_plugins = std::move(missing);
  const PlacedWeights weights = TRY(place_weights(compiled.built));
  parts.weights = weights.bytes;
  parts.keeper = weights.keeper;
  parts.programs = std::move(compiled.built.programs);
  parts.code = program::code_section(std::move(compiled.code));
  runtime::Devices all = (compiled.registry ? *compiled.registry : default_registry()).devices(*compiled.ops);
  all.insert(all.end(), devices.begin(), devices.end());
  compiled = {};
  malloc_trim(0);  // what compiling took goes back to the system: the process may run for days
  return runtime::Engine::create(std::move(parts), all);
}

}  // namespace tenon::compiler
