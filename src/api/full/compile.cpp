// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include "compiler/save.h"
#include "ir/verify.h"

// Last: the public names come after the inner ones (see there).
#include "api/full/compile.h"
#include "api/state.h"

namespace tenon::inline v1 {

import::ImportOptions import_options(const std::filesystem::path& external_data,
                                     const std::map<std::string, std::vector<int64_t>>& shapes) {
  import::ImportOptions out;
  out.external_data_dir = external_data;
  for (const auto& [input, sizes] : shapes) {
    import::RequestedShape shape{input, {}};
    for (const int64_t s : sizes) shape.dims.push_back({s < 0 ? std::nullopt : std::optional(s), {}});
    out.shapes.push_back(std::move(shape));
  }
  return out;
}

namespace {

/// What saving needs, once the engine itself has taken the rest.
std::shared_ptr<compiler::Compiled> kept_for_saving(compiler::Compiled& compiled) {
  auto kept = std::make_shared<compiler::Compiled>();
  kept->graph = std::move(compiled.graph);
  kept->built.program = compiled.built.program;
  kept->built.weights = compiled.built.weights;
  kept->code = compiled.code;
  kept->report = compiled.report;
  return kept;
}

/// Errors: those of a model are at `source` where nothing nearer is known.
base::Result<Engine> engine_of(std::unique_ptr<ir::Graph> graph, const CompileOptions& options, std::string source) {
  compiler::CompileOptions inner;
  inner.opt = options.opt;
  inner.threads = options.threads;
  inner.progress = options.progress;
  inner.source = std::move(source);
  inner.registry = TRY(compiler::Registry::make(libraries_of(options.libraries)));
  inner.backends = TRY(inner.registry->named(options.backends));
  auto compiled = TRY(compiler::compile(std::move(graph), inner));
  auto kept = kept_for_saving(compiled);
  auto engine = TRY(compiler::load_compiled(std::move(compiled)));
  inner.progress = nullptr;
  return make_engine(std::move(engine), [kept, inner](const std::filesystem::path& path, bool portable) {
    compiler::CompileOptions saving = inner;
    saving.portable = portable;
    return compiler::save(*kept, saving, path);
  });
}

base::Error beside_a_graph(std::string option, std::string what, std::string advice) {
  return base::fail(base::Code::bad_usage, std::move(option), std::move(what))
      .expected("nothing beside a graph")
      .found("this option")
      .advice(std::move(advice));
}

/// What reading a model would have found.
base::Result<void> check_graph(const ir::Graph& graph, const CompileOptions& options) {
  if (!options.external_data.empty())
    return beside_a_graph("external_data", "a graph has its weights already", "give the folder to what reads the model");
  if (!options.shapes.empty()) return beside_a_graph("shapes", "a graph has its shapes already", "say them where the graph is made");
  TRY(ir::verify(graph));
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    if (input.type.is_tensor() && (input.type.dtype == base::DType::none || !input.type.has_rank()))
      return base::fail(base::Code::bad_usage, "input '" + input.name + "'", "the type of this input is not known")
          .expected("a dtype, and a size or a symbol for each dimension")
          .found(input.type.text())
          .advice("set its type before compiling");
  }
  return {};
}

/// `make` returns base::Result<Engine>.
template <class Make>
Result<Engine> made(const CompileOptions& options, Make make) {
  return guarded([&]() -> Result<Engine> {
    if (options.opt < 0 || options.opt > 3)
      return std::unexpected(
          Error{Code::bad_usage, "opt", "there is no such level", "0 to 3", std::to_string(options.opt), "3 does everything"});
    auto engine = make();
    if (!engine) return std::unexpected(public_error(engine.error()));
    return std::move(*engine);
  });
}

}  // namespace

Result<Engine> compile(const std::filesystem::path& model, const CompileOptions& options) {
  return made(options, [&]() -> base::Result<Engine> {
    auto imported = TRY(import::import_onnx(model, import_options(options.external_data, options.shapes)));
    return engine_of(std::move(imported.graph), options, model.filename().string());
  });
}

Result<Engine> compile(std::span<const std::byte> model, const CompileOptions& options, std::shared_ptr<const void> keeper) {
  return made(options, [&]() -> base::Result<Engine> {
    auto imported = TRY(import::import_onnx(model, std::move(keeper), import_options(options.external_data, options.shapes)));
    return engine_of(std::move(imported.graph), options, "model in memory");
  });
}

Result<Engine> compile_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options) {
  return made(options, [&]() -> base::Result<Engine> {
    TRY(check_graph(*graph, options));
    TRY(ir::infer_all(*graph));
    return engine_of(std::move(graph), options, "graph");
  });
}

}  // namespace tenon::inline v1
