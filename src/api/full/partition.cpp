// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition_data.h"

// Last: the public names come after the inner ones (see there).
#include "api/full/compile.h"
#include "api/state.h"
#include "tenon/partition.h"

namespace tenon::inline v1 {

namespace {

/// The partition report of a graph, whether it was read from a model or built by the caller.
base::Result<std::string> partition_report(std::unique_ptr<ir::Graph> graph, const compiler::CompileOptions& inner, bool build,
                                           const import::ImportOptions& reading = {}) {
  const auto text = [&](const ir::Graph& g, const partition::Partition& partition, const partition::Roles& roles,
                        std::span<const plugin::MeasuredNode> measured, const compiler::Compiled* built) -> base::Result<std::string> {
    const auto what_if = TRY(partition::what_if(g, partition, roles, inner.constraints));
    return compiler::partition_data(g, partition, roles, inner.constraints.assign, what_if, measured, built, reading.shapes).dump();
  };
  if (!build) {
    const compiler::PartitionedGraph partitioned = TRY(compiler::partition_graph(std::move(graph), inner));
    return text(*partitioned.graph, partitioned.partition, partitioned.backends.roles(), partitioned.measured, nullptr);
  }
  const compiler::Compiled built = TRY(compiler::compile(std::move(graph), inner));
  return text(*built.graph, built.partition, built.backends.roles(), built.report.measured, &built);
}

template <class Report>
Result<std::string> report_text(Report report) {
  return guarded([&]() -> Result<std::string> {
    auto text = report();
    if (!text) return std::unexpected(public_error(text.error()));
    return std::move(*text);
  });
}

base::Result<import::ImportOptions> with_modules(const CompileOptions& options) {
  import::ImportOptions out = TRY(import_options(options));
  out.metadata = true;  // modules are reported
  return out;
}

}  // namespace

Result<std::string> partition(const std::filesystem::path& model, const CompileOptions& options, bool build) {
  return report_text([&]() -> base::Result<std::string> {
    const import::ImportOptions reading = TRY(with_modules(options));
    const auto inner = TRY(inner_options(options, model.filename().string()));
    return partition_report(std::move(TRY(import::import_onnx(model, reading)).graph), inner, build, reading);
  });
}

Result<std::string> partition(std::span<const std::byte> model, const CompileOptions& options, bool build) {
  return report_text([&]() -> base::Result<std::string> {
    const import::ImportOptions reading = TRY(with_modules(options));
    const auto inner = TRY(inner_options(options, "model in memory"));
    const std::shared_ptr<const void> callers(model.data(), [](const void*) {});  // nothing of the graph outlives this call
    return partition_report(std::move(TRY(import::import_onnx(model, callers, reading)).graph), inner, build, reading);
  });
}

Result<std::string> partition_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options, bool build) {
  return report_text([&]() -> base::Result<std::string> {
    const auto inner = TRY(inner_options(options, "graph"));
    TRY(check_graph(*graph, options));
    return partition_report(std::move(graph), inner, build);
  });
}

namespace {

/// The options of a spec, its ranges by name.
Result<CompileOptions> with_ranges(const std::filesystem::path& model, const CompileSpec& spec) {
  CompileOptions out = spec;
  if (spec.inputs.empty()) return out;
  const auto graph = Graph::from_onnx(model, {.external_data = spec.external_data, .shapes = {}, .plugins = spec.plugins});
  if (!graph) return std::unexpected(graph.error());
  if (spec.inputs.size() > graph->inputs().size())
    return std::unexpected(Error{Code::bad_usage, "inputs", "there are more ranges than inputs", std::to_string(graph->inputs().size()),
                                 std::to_string(spec.inputs.size()), ""});
  for (size_t k = 0; k < spec.inputs.size(); ++k) out.ranges.emplace(graph->inputs()[k].name, spec.inputs[k]);
  return out;
}

}  // namespace

Result<Engine> compile(const std::filesystem::path& model, const CompileSpec& spec) {
  const auto options = guarded([&] { return with_ranges(model, spec); });
  if (!options) return std::unexpected(options.error());
  return compile(model, *options);
}

Result<std::string> partition(const std::filesystem::path& model, const CompileSpec& spec, bool build) {
  const auto options = guarded([&] { return with_ranges(model, spec); });
  if (!options) return std::unexpected(options.error());
  return partition(model, *options, build);
}

}  // namespace tenon::inline v1
