// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/views.h"

#include <filesystem>

#include "cli/console/console.h"
#include "compiler/engine_contents.h"
#include "compiler/load.h"

namespace tenon::cli {
namespace {

using EngineOf = Result<std::shared_ptr<runtime::Engine>>;

EngineOf load(compiler::Compiled compiled, std::string missing, ViewOptions wanted, Views& views) {
  compiler::PlanRecord plan = compiler::plan_record(compiled);
  if (views.page) views.page->add_compiled(*compiled.graph, plan, compiled.built.programs[0], "as compiled");
  if (wanted.explanation)
    views.explanation.emplace(std::move(compiled.graph), std::move(plan), compiled.built.tactics, *compiled.code.target);
  return compiler::load_compiled(std::move(compiled), {}, std::move(missing));
}

EngineOf from_model(const EngineOptions& options, ViewOptions wanted, Views& views, Console& console) {
  auto reading = TRY(options.model.import_options());
  reading.metadata = true;  // the page shows which module a node is of
  auto imported = TRY(import::import_onnx(options.model.path, reading));
  for (const std::string& w : imported.warnings) console.warn(w);
  if (views.page) views.page->add(*imported.graph, "as exported");
  return load(TRY(compiled({std::move(imported.graph), std::move(imported.unbounded)}, TRY(options.compile_options(console)), console)), "",
              wanted, views);
}

EngineOf from_native_engine(const std::string& path, const compiler::LoadOptions& loading, ViewOptions wanted, Views& views) {
  auto engine = TRY(compiler::load(path, loading));
  compiler::EngineContents contents = TRY(compiler::read_contents(path, *loading.ops));
  if (!contents.plan)
    return fail(Code::not_supported, path, "the engine has no record of its plan, which --html and --explain show")
        .expected("an engine of this version")
        .found("one that an earlier version built")
        .advice("build the engine again");
  if (!engine->missing().empty())
    return fail(Code::not_supported, path, "not supported yet: --html and --explain where definitions run in place of plugins")
        .found(engine->missing())
        .advice("name the library of plugins (--plugin LIB)");
  if (views.page) views.page->add_compiled(*contents.graph, *contents.plan, (*contents.programs)[0], "as compiled");
  if (wanted.explanation)
    views.explanation.emplace(std::move(contents.graph), *std::move(contents.plan), std::move(contents.tactics), *contents.target);
  return engine;
}

EngineOf from_engine(const EngineOptions& options, ViewOptions wanted, Views& views) {
  const compiler::LoadOptions loading = TRY(options.load_options());
  auto portable = TRY(compiler::compile_if_portable(options.model.path, loading));
  auto engine = TRY(portable ? load(std::move(portable->compiled), std::move(portable->missing), wanted, views)
                             : from_native_engine(options.model.path, loading, wanted, views));
  TRY(options.check_shapes(*engine));
  return engine;
}

}  // namespace

EngineOf engine_with_views(const EngineOptions& options, ViewOptions wanted, Views& views, Console& console) {
  if (wanted.page) views.page.emplace(std::filesystem::path(options.model.path).filename().string());
  auto engine = TRY(options.is_engine() ? from_engine(options, wanted, views) : from_model(options, wanted, views, console));
  if (!engine->missing().empty()) console.warn("definitions run in place of plugins: " + engine->missing());
  return engine;
}

Result<void> check_inputs_of_views(const runtime::Engine& engine, std::span<const Tensor> inputs) {
  if (&engine.program_for(inputs) == &engine.program()) return {};
  return fail(
             Code::not_supported, "--html, --explain",
             "not supported yet: inputs outside of the sizes that the model was compiled for, or for a default, which have a program of their own")
      .advice("give inputs within the bounds that --shape gave the build, and none that has a default");
}

}  // namespace tenon::cli
