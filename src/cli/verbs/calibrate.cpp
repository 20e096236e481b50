// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "base/doing.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/options/comma_list.h"
#include "cli/options/library_options.h"
#include "compiler/measure/calibrate.h"
#include "compiler/measure/child_stopwatch.h"
#include "compiler/share_data.h"
#include "ops/core/op.h"

namespace tenon::cli::verb_calibrate {
namespace {

struct Options {
  std::vector<std::string> backends;
  LibraryOptions libraries;
  int threads = 0;
};

Result<compiler::CompileOptions> compile_options(const Options& o) {
  compiler::CompileOptions out;
  out.threads = o.threads;
  const runtime::Libraries from = TRY(o.libraries.libraries());
  out.registry = TRY(compiler::Registry::make(from));
  compiler::CompileOptions every = out;
  every.backends.assign(out.registry->all().begin(), out.registry->all().end());
  out.measuring = TRY(compiler::measuring_in_children({"/proc/self/exe", "stopwatch"}, every, from, {}));
  return out;
}

/// The backends that are asked for, which must be there; where none is, those that are.
Result<std::vector<std::string>> chosen(const Options& o, const compiler::Registry& registry) {
  auto out = TRY(names_between_commas("--backend", o.backends));
  TRY(registry.named(out));
  if (!out.empty()) return out;
  for (const backend::Backend* b : registry.all()) {
    const Doing doing(b->name(), "opened its library");
    if (b->library()) out.emplace_back(b->name());
  }
  return out;
}

using Json = nlohmann::ordered_json;

/// Of one backend: what was found, which is kept, or why there is nothing.
Result<Json> calibrate_one(const std::string& name, const compiler::CompileOptions& options, compiler::Calibration& kept,
                           std::string& text) {
  Json out{{"backend", name}};
  const backend::Backends backends = TRY(options.registry->named(std::vector<std::string>{name}));
  if (backends[0]->makes_kernels()) {
    text = "what others are held against: its kernels are steps of the program";
    out.update(compiler::costs_data(backends[0]->overheads()));
  } else if (const auto found = compiler::calibrate(backends, 0, ops::table(), options)) {
    TRY(kept.add(*backends[0], *found));
    text = compiler::costs_text(*found);
    out.update(compiler::costs_data(*found));
  } else {
    text = found.error()->what;
    out["why_not"] = found.error().text();
  }
  return out;
}

Result<void> calibrate_all(const Options& o, Console& console) {
  const auto options = TRY(compile_options(o));
  const auto file = compiler::cache_path(compiler::kCalibrationFile);
  if (file.empty())
    return fail(Code::bad_usage, "calibrate", "there is no folder to keep what is found in").expected("HOME or XDG_CACHE_HOME to be set");
  compiler::Calibration kept(file);
  std::vector<std::vector<std::string>> rows{{"backend", "a start"}};
  auto told = Json::array();
  for (const std::string& name : TRY(chosen(o, *options.registry))) {
    console.progress(name);
    rows.push_back({name, ""});
    told.push_back(TRY(calibrate_one(name, options, kept, rows.back()[1])));
  }
  console.table(rows);
  console.line();
  console.line(fmt::format("kept in {}, for --assign cost", file.string()));
  console.object({{"backends", told}, {"file", file.string()}});
  return {};
}

}  // namespace

VERB(calibrate) {
    .summary = "measure what it takes here to start a segment of each backend and to bring values to it; --assign cost goes by that",
    .examples =
        "  tenon calibrate\n"
        "  tenon calibrate --backend onnxruntime --backend-lib onnxruntime=/opt/ort/lib/libonnxruntime.so\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("--backend", o->backends, "those that are measured (default: all that are there)")
          ->type_name("NAME[,NAME]")
          ->allow_extra_args(false);
      app.add_option("--threads", o->threads, "threads to run on (default: what this process may use)")->check(CLI::NonNegativeNumber);
      o->libraries.add_to(app);
      return [o](Console& console) { return calibrate_all(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_calibrate
