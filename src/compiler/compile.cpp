// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "codegen/passes/pipeline.h"
#include "compiler/backends.h"
#include "compiler/build_partitioned.h"
#include "compiler/fallbacks.h"
#include "compiler/place_weights.h"
#include "compiler/rewrite_and_partition.h"
#include "passes/pipeline.h"

namespace tenon::compiler {

namespace {

/// The steps of a build, in order. Errors: those of compile(), without the model's file.
Result<Compiled> compile_steps(Source source, const CompileOptions& options) {
  StepClock clock(options);
  std::vector<std::string> warnings;
  clock.begin("rewrite");
  TRY(add_fallback_graphs(source, options));
  PartitionedGraph entry = TRY(rewrite_and_partition(std::move(source.graph), options));
  auto fallbacks = TRY(partition_fallbacks(std::move(source.fallbacks), entry, options, warnings));
  std::vector<plugin::MeasuredNode> measured = std::move(entry.measured);
  Compiled out = TRY(build_partitioned(std::move(entry), options, clock, std::move(fallbacks)));
  TRY(options.tactics.check_used());
  out.report.measured = std::move(measured);
  out.report.warnings = std::move(warnings);
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
  auto partitioned = rewrite_and_partition(std::move(graph), options);
  if (!partitioned) return std::move(partitioned).error().at(options.source);
  return partitioned;
}

Result<Compiled> compile(Source source, const CompileOptions& options) {
  auto compiled = compile_steps(std::move(source), options);
  if (!compiled) return std::move(compiled).error().at(options.source);
  return compiled;
}

Result<std::shared_ptr<runtime::Engine>> load_compiled(Compiled compiled, const runtime::Devices& devices, std::string missing) {
  runtime::EngineParts parts;
  parts.missing = std::move(missing);
  const PlacedWeights weights = TRY(place_weights(compiled.built));
  parts.weights = weights.bytes;
  parts.keeper = weights.keeper;
  parts.programs = std::move(compiled.built.programs);
  parts.code = std::move(compiled.code.bytes);
  for (const codegen::CodeEntry& e : compiled.code.entries) parts.entries.push_back(e.offset);
  runtime::Devices all = (compiled.registry ? *compiled.registry : usual_registry()).devices(*compiled.ops);
  all.insert(all.end(), devices.begin(), devices.end());
  compiled = {};
  malloc_trim(0);  // what compiling took goes back to the system: the process may run for days
  return runtime::Engine::create(std::move(parts), all);
}

}  // namespace tenon::compiler
