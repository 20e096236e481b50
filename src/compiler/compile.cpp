// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "codegen/analysis/attention.h"
#include "codegen/passes/pipeline.h"
#include "compiler/backends.h"
#include "compiler/build_shared.h"
#include "compiler/input_defaults.h"
#include "compiler/measure/choose.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/plugins/choose_ways.h"
#include "compiler/on_fallback.h"
#include "compiler/place_weights.h"
#include "compiler/unknown_ops.h"
#include "compiler/without_plugins.h"
#include "ir/port_names.h"
#include "ops/core/random_streams.h"
#include "partition/own_dequantize.h"
#include "partition/retype.h"
#include "passes/pipeline.h"

namespace tenon::compiler {

namespace {

Result<void> check_input_types(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.inputs())
    if (const ir::Value& v = graph.value(id); v.type.dtype == DType::none)
      return fail(Code::bad_graph, "input '" + v.name + "'", "the input has no element type")
          .expected("a type: f32, i64, ...")
          .found(v.type.text());
  return {};
}

/// The bytes of every weight are there.
Result<void> check_complete(const ir::Graph& graph) {
  for (const ir::ValueId id : graph.values()) {
    const ir::Value& v = graph.value(id);
    const auto* bytes = v.is_constant() ? v.constant->unread() : nullptr;
    if (bytes)
      return fail(Code::file_missing, "constant '" + v.name + "'",
                  "its bytes were not read: the model was imported with its weights by reference")
          .expected("a model with its weights")
          .found("a place in file '" + bytes->location + "'");
  }
  for (const ir::NodeId id : graph.nodes())
    for (const ir::Body& body : graph.node(id).bodies) TRY(check_complete(*body.graph));
  return {};
}

/// The backends with what a calibration knows of their starts and borders.
BackendsInUse calibrated(const BackendsInUse& of, const Calibration& calibration) {
  std::vector<KnownCosts> known(of.all.size());
  for (size_t b = 0; b < of.all.size(); ++b) known[b].overheads = calibration.find(*of.all[b]);
  return at_costs(of, known);
}

/// What kernels run is theirs: no other backend is asked before, and none by cost.
bool runs_kernels_first(const BackendsInUse& backends, const partition::Constraints& constraints) {
  return backends.all[0]->makes_kernels() && constraints.assign == partition::Assign::priority;
}

Result<void> check_precision(const CompileOptions& options) {
  if (options.precision == codegen::Precision::f32) return {};
  return codegen::check_precision(options.precision, options.target ? *options.target : *TRY(codegen::target_for()));
}

Result<PartitionedGraph> partitioned(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  TRY(check_precision(options));
  TRY(ir::check_port_names(*graph));
  TRY(check_input_types(*graph));
  TRY(check_complete(*graph));
  PartitionedGraph out;
  out.graph = std::move(graph);
  out.nodes_before = out.graph->node_count();
  out.backends.all = options.backends.empty() ? TRY((options.registry ? *options.registry : usual_registry()).named()) : options.backends;
  TRY(check_unknown_ops(*out.graph, out.backends.all));
  partition::Constraints constraints = options.constraints;
  if (options.backends.empty()) constraints.listed = 1;
  out.backends.listed = partition::Roles(out.backends.all, constraints).listed;
  passes::Options rewriting;
  rewriting.verify = options.verify;
  rewriting.level = options.opt;
  rewriting.off = options.off;
  if (runs_kernels_first(out.backends, constraints)) rewriting.packs = codegen::attention_fits;
  else rewriting.off.insert("fuse/integer_products");  // other runtimes know quantized products by the dequantizing around them
  TRY(partition::bind(*out.graph, constraints, out.backends.roles()));
  TRY(passes::optimise(*out.graph, rewriting));
  if (options.measuring) TRY(choose_plugin_ways(out, options));
  if (options.calibration && constraints.assign == partition::Assign::cost) out.backends = calibrated(out.backends, *options.calibration);
  TRY(partition::prepare(*out.graph, out.backends.all));
  if (!runs_kernels_first(out.backends, constraints)) partition::copy_dequantize_to_readers(*out.graph);
  out.partition = TRY(partition::partition_with_casts(out.graph, out.backends.roles(), constraints, {}, &out.without_casts));
  if (options.measuring && constraints.assign == partition::Assign::cost) TRY(share_by_measuring(out, options));
  return out;
}

/// None where there is no graph.
Result<std::optional<Beside>> beside(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  if (!graph) return std::nullopt;
  return Beside{TRY(partitioned(std::move(graph), options)), options};
}

/// A form of the model that cannot be compiled is left out, and a warning says why.
std::optional<Beside> overriding(std::unique_ptr<ir::Graph> graph, const CompileOptions& options, std::vector<std::string>& warnings) {
  auto made = beside(std::move(graph), options);
  if (made) return *std::move(made);
  warnings.push_back("inputs with a default are taken as constants: " + made.error().text());
  return std::nullopt;
}

std::unique_ptr<ir::Graph> graph_of(std::optional<Beside> of) { return of ? std::move(of->shared.graph) : nullptr; }

Result<Compiled> compile_source(Source source, const CompileOptions& options) {
  StepClock clock(options);
  clock.begin("rewrite");
  TRY(settle_input_defaults(source, options.freeze_defaults));
  for (auto* graph : {&source.graph, &source.unbounded, &source.overridable})
    if (*graph) ops::number_random_streams(**graph);
  std::unique_ptr<ir::Graph> defined;
  if (options.plugin_fallback) defined = TRY(without_plugins(source.unbounded ? *source.unbounded : *source.graph));
  PartitionedGraph shared = TRY(partitioned(std::move(source.graph), options));
  if (!runs_plugins(shared.partition, shared.backends.all)) defined = nullptr;  // it would be the same
  CompileOptions fallback = on_fallback(options, shared.backends);
  std::vector<std::string> warnings;
  Others others{.behind = TRY(beside(std::move(source.unbounded), fallback)),
                .overridable = overriding(std::move(source.overridable), fallback, warnings)};
  fallback.backends = without_plugins(fallback.backends);
  others.instead = TRY(beside(std::move(defined), fallback));
  std::unique_ptr<ir::Graph> unbounded, instead, overridable;
  if (options.portable) {
    unbounded = graph_of(std::exchange(others.behind, {}));
    instead = graph_of(std::exchange(others.instead, {}));
    overridable = graph_of(std::exchange(others.overridable, {}));
  }
  std::vector<plugin::MeasuredNode> measured = std::move(shared.measured);
  Compiled out = TRY(build_shared(std::move(shared), options, clock, std::move(others)));
  if (options.portable) {
    out.unbounded = std::move(unbounded);
    out.instead = std::move(instead);
    out.overridable = std::move(overridable);
  }
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
  auto shared = partitioned(std::move(graph), options);
  if (!shared) return std::move(shared).error().at(options.source);
  return shared;
}

Result<Compiled> compile(Source source, const CompileOptions& options) {
  auto compiled = compile_source(std::move(source), options);
  if (!compiled) return std::move(compiled).error().at(options.source);
  return compiled;
}

Result<std::shared_ptr<runtime::Engine>> load_compiled(Compiled compiled, const runtime::Devices& devices, std::string missing) {
  runtime::EngineParts parts;
  parts.missing = std::move(missing);
  const PlacedWeights weights = TRY(place_weights(compiled.built));
  parts.weights = weights.bytes;
  parts.keeper = weights.keeper;
  parts.program = std::move(compiled.built.program);
  parts.code = std::move(compiled.code.bytes);
  for (const codegen::CodeEntry& e : compiled.code.entries) parts.entries.push_back(e.offset);
  runtime::Devices all = (compiled.registry ? *compiled.registry : usual_registry()).devices(*compiled.ops);
  all.insert(all.end(), devices.begin(), devices.end());
  compiled = {};
  malloc_trim(0);  // what compiling took goes back to the system: the process may run for days
  return runtime::Engine::create(std::move(parts), all);
}

}  // namespace tenon::compiler
