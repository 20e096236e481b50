// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/views.h"

#include <filesystem>

#include "cli/console/console.h"
#include "compiler/engine_contents.h"
#include "compiler/load.h"

namespace tenon::cli {
namespace {

using EngineOf = Result<std::shared_ptr<runtime::Engine>>;

/// Fills the view for --explain; nothing for an unknown entry, whose error the run reports.
void explain(compiler::Compiled& compiled, const std::string& entry, Views& views) {
  const runtime::ProgramTable& programs = compiled.built.programs;
  const std::vector<uint32_t> numbers = runtime::entries_of(programs);
  for (size_t k = 0; k < numbers.size(); ++k) {
    if (!entry.empty() && programs.programs[numbers[k]].name != entry) continue;
    compiler::PlanRecord plan = compiler::plan_record(compiled, k);
    auto& graph = k == 0 ? compiled.graph : compiled.other_entries[k - 1].graph;
    views.explanation.emplace(std::move(graph), std::move(plan), compiled.built.tactics, *compiled.code.target);
    return;
  }
}

EngineOf load(compiler::Compiled compiled, std::string missing, const ViewOptions& wanted, Views& views) {
  if (views.page) add_entries(*views.page, compiled);
  if (wanted.explanation) explain(compiled, wanted.entry, views);
  return compiler::load_compiled(std::move(compiled), {}, std::move(missing));
}

EngineOf from_model(const EngineOptions& options, const ViewOptions& wanted, Views& views, Console& console) {
  auto reading = TRY(options.model.import_options());
  reading.metadata = true;  // the page shows which module a node is of
  auto imported = TRY(import::import_onnx(options.model.path, reading));
  for (const std::string& w : imported.warnings) console.warn(w);
  if (views.page) views.page->add(*imported.graph, "as exported");
  return load(TRY(compiled({std::move(imported.graph), std::move(imported.unbounded)}, TRY(options.compile_options(console)), console)), "",
              wanted, views);
}

EngineOf from_native_engine(const std::string& path, const compiler::LoadOptions& loading, const ViewOptions& wanted, Views& views) {
  auto engine = TRY(compiler::load(path, loading));
  compiler::EngineContents contents = TRY(compiler::read_contents(path, *loading.ops));
  const size_t entry = wanted.entry.empty() ? 0 : TRY(engine->entry(wanted.entry));
  if (entry >= contents.entries.size() || !contents.entries[entry].plan)
    return fail(Code::not_supported, path, "the engine has no record of its plan, which --html and --explain show")
        .expected("an engine of this version")
        .found("one that an earlier version built")
        .advice("build the engine again");
  if (!engine->missing_plugins().empty())
    return fail(Code::not_supported, path, "not supported yet: --html and --explain where definitions run in place of plugins")
        .found(engine->missing_plugins())
        .advice("name the library of plugins (--plugin LIB)");
  if (views.page) add_entries(*views.page, contents);
  if (!wanted.explanation) return engine;
  compiler::EntryContents& explained = contents.entries[entry];
  views.explanation.emplace(std::move(explained.graph), *std::move(explained.plan), std::move(contents.tactics), *contents.target);
  return engine;
}

EngineOf from_engine(const EngineOptions& options, const ViewOptions& wanted, Views& views) {
  const compiler::LoadOptions loading = TRY(options.load_options());
  auto portable = TRY(compiler::compile_if_portable(options.model.path, loading));
  auto engine = TRY(portable ? load(std::move(portable->compiled), std::move(portable->missing), wanted, views)
                             : from_native_engine(options.model.path, loading, wanted, views));
  TRY(options.check_shapes(*engine));
  return engine;
}

}  // namespace

EngineOf engine_with_views(const EngineOptions& options, const ViewOptions& wanted, Views& views, Console& console) {
  if (wanted.page) views.page.emplace(std::filesystem::path(options.model.path).filename().string());
  auto engine = TRY(options.is_engine() ? from_engine(options, wanted, views) : from_model(options, wanted, views, console));
  if (!engine->missing_plugins().empty()) console.warn("definitions run in place of plugins: " + engine->missing_plugins());
  return engine;
}

Result<void> check_inputs_of_views(const runtime::Engine& engine, std::span<const Tensor> inputs, size_t entry) {
  if (&engine.program_for(inputs, entry) == &engine.program(entry)) return {};
  return fail(
             Code::not_supported, "--html, --explain",
             "not supported yet: inputs outside of the sizes that the model was compiled for, or for a default, which have a program of their own")
      .advice("give inputs within the bounds that --shape gave the build, and none that has a default");
}

}  // namespace tenon::cli
