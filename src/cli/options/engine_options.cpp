// SPDX-License-Identifier: Apache-2.0
#include "cli/options/engine_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>

#include "cli/console/console.h"
#include "cli/console/option_groups.h"
#include "cli/options/comma_list.h"
#include "cli/options/table_options.h"
#include "compiler/backends.h"
#include "compiler/measure/calibration.h"
#include "compiler/measure/child_process_runner.h"
#include "compiler/shapes/requested_shapes.h"

namespace tenon::cli {

namespace {

std::vector<std::string> names_of_passes() {
  std::vector<std::string> out;
  for (const compiler::PassName& p : compiler::pass_names()) out.emplace_back(p.name);
  return out;
}

}  // namespace

void EngineOptions::add_to(CLI::App& app, Takes takes) {
  app_ = &app;
  model.add_to(app, takes == Takes::models ? "an ONNX model" : "an ONNX model or an engine");
  add_scalar_options(app, *this, false);
  partition.add_to(app, [this] { model.metadata = true; });
  app.get_option("--backend")->each([this](const std::string& given) {
    if (const auto names = names_between_commas("--backend", {&given, 1}))
      model.unknown_ops |= compiler::default_registry().run_unknown_ops(*names);
  });
  libraries.add_to(app);
  if (takes == Takes::models_and_engines) app.add_flag("--verify", verify, "check the checksums of an engine first, weights included");
  app.add_flag("--verify-passes", verify_passes, "check the graph and the plan after each pass of the build");
  app.add_option("--without", without, "leave out this pass of the graph or of planning; may be repeated")
      ->type_name("PASS")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names_of_passes()));
  group_options(app, kDebugOptions, {"--verify-passes", "--without"});
}

void EngineOptions::add_check_memory_to(CLI::App& app) {
  app.add_flag("--check-memory", check_memory,
               "check after each step that nothing was written outside the buffers; what is not written yet holds NaN (slow)");
  group_options(app, kDebugOptions, {"--check-memory"});
}

runtime::RunOptions EngineOptions::run_options() const {
  runtime::RunOptions options;
  options.threads = threads;
  options.check_memory = check_memory;
  return options;
}

Result<runtime::Libraries> EngineOptions::all_libraries() const { return model.plugins.added_to(TRY(libraries.libraries())); }

Result<compiler::CompileOptions> EngineOptions::compile_options(Console& console) const {
  compiler::CompileOptions options;
  static_cast<compiler::ScalarOptions&>(options) = *this;
  const runtime::Libraries from = TRY(all_libraries());
  options.registry = TRY(compiler::Registry::make(from));
  options.backends = TRY(options.registry->named(TRY(partition.backends())));
  options.constraints = TRY(partition.constraints());
  TRY(partition.check_measure(!TRY(model.plugins.plugins()).registry->empty()));
  options.constraints.preferred = TRY(model.plugins.preferences());
  if (partition.measures()) options.measuring = TRY(compiler::child_process_measure_options({"/proc/self/exe", "time"}, options, from));
  options.calibration = compiler::read_calibration();
  options.verify = verify_passes;
  options.off = compiler::disabled_passes(*this);
  options.off.insert(without.begin(), without.end());
  options.source = std::filesystem::path(model.path).filename().string();
  options.progress = [&console](std::string_view step) { console.progress(step); };
  return options;
}

Result<compiler::LoadOptions> EngineOptions::load_options() const {
  if (partition.any())
    return fail(Code::bad_usage, model.path, "in an engine it is settled who runs what")
        .expected(
            "an ONNX model, or none of --backend, --assign, --min-block-size, --fallback-ops, --fallback-modules, --pin, --require-full, "
            "--segmenter")
        .found("an engine")
        .advice("build the engine again with these options");
  TRY(check_build_options());
  return compiler::LoadOptions{
      .verify = verify, .threads = threads, .ops = TRY(model.plugins.plugins()).ops, .libraries = TRY(all_libraries())};
}

Result<void> EngineOptions::check_build_options() const {
  std::vector<std::string> names{"--without",       "--verify-passes", "--only-output", "--state",   "--freeze-defaults",
                                 "--external-data", "--context",       "--lora",        "--weights", "--kv"};
  for (const compiler::OptionRow& row : compiler::option_rows())
    if (row.scalar && !row.running && !row.flag.empty()) names.emplace_back(row.flag);
  for (const std::string& name : names) {
    const CLI::Option* const option = app_->get_option_no_throw(name);
    if (option && option->count() > 0)
      return fail(Code::bad_usage, name, "the option is one of a build, and an engine is built already")
          .expected("an ONNX model")
          .found(model.path + ", an engine")
          .advice("give the option to `tenon build`");
  }
  return {};
}

Result<void> EngineOptions::check_shapes(const runtime::Engine& engine) const {
  return compiler::check_requested(engine.inputs(), TRY(model.import_options()).shapes, model.path);
}

Result<std::shared_ptr<runtime::Engine>> EngineOptions::engine(Console& console, double* load_ms) const {
  const auto start = std::chrono::steady_clock::now();
  auto made = [&]() -> Result<std::shared_ptr<runtime::Engine>> {
    if (is_engine()) {
      auto loaded = TRY(compiler::load(model.path, TRY(load_options())));
      TRY(check_shapes(*loaded));
      return loaded;
    }
    auto imported = TRY(model.import());
    for (const std::string& w : imported.warnings) console.warn(w);
    return compiler::load_compiled(
        TRY(compiled({std::move(imported.graph), std::move(imported.unbounded)}, TRY(compile_options(console)), console)));
  }();
  if (made && !(*made)->missing_plugins().empty()) console.warn("definitions run in place of plugins: " + (*made)->missing_plugins());
  if (load_ms) *load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return made;
}

Result<compiler::Compiled> compiled(compiler::Source source, const compiler::CompileOptions& options, Console& console) {
  std::vector<compiler::EntrySource> one;
  one.push_back({"main", std::move(source)});
  return compiled(std::move(one), options, console);
}

Result<compiler::Compiled> compiled(std::vector<compiler::EntrySource> entries, const compiler::CompileOptions& options, Console& console) {
  auto out = TRY(compiler::compile(std::move(entries), options));
  for (const std::string& w : out.report.warnings) console.warn(w);
  for (const partition::FailedSegment& h : out.failed_segments)
    console.warn(fmt::format("backend '{}' handed segment {} back ({} nodes): {}", h.backend, h.segment, h.nodes.size(), h.error));
  return out;
}

}  // namespace tenon::cli
