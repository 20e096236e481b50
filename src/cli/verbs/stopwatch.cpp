// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/library_options.h"
#include "cli/options/plugin_options.h"
#include "compiler/measure/measure_run.h"

namespace tenon::cli::verb_stopwatch {
namespace {

struct Options {
  std::vector<std::string> engines;
  LibraryOptions libraries;
  PluginOptions plugins;
  int threads = 0;
  bool results = false;
};

/// What is said of an engine, and to --json.
std::pair<std::string, nlohmann::ordered_json> measure(const Options& o, const std::string& engine, const compiler::LoadOptions& options,
                                                       Result<void>& failed) {
  if (o.results) {
    failed = compiler::write_results(engine, options);
    return failed ? std::pair<std::string, nlohmann::ordered_json>("ran", true)
                  : std::pair<std::string, nlohmann::ordered_json>("- " + failed.error()->what, false);
  }
  const auto ns = compiler::measure_run_ns(engine, options);
  if (ns) return {fmt::format("{:.0f} ns", *ns), *ns};
  failed = std::unexpected(ns.error());
  return {fmt::format("- {}", ns.error()->what), nullptr};
}

}  // namespace

VERB(stopwatch) {
    .summary = "time engines, one after the other, or run them: ready, then a line each, as soon as it is known",
    .examples =
        "  tenon stopwatch a.tenon b.tenon\n"
        "  tenon stopwatch a.tenon --threads 1\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("ENGINE", o->engines, "engine files")->required()->type_name("FILE");
      app.add_option("--threads", o->threads, "threads to run on (default: what this process may use)")->check(at_least(0));
      app.add_flag("--results", o->results, "run each once and keep what it gives beside it, ENGINE.npz, in place of a time");
      o->libraries.add_to(app);
      o->plugins.add_to(app);
      return [o](Console& console) -> Result<void> {
        const compiler::LoadOptions options{.threads = o->threads,
                                            .ops = TRY(o->plugins.plugins()).ops,
                                            .libraries = TRY(o->plugins.added_to(TRY(o->libraries.libraries())))};
        console.line("ready");
        std::fflush(stdout);
        auto answers = nlohmann::ordered_json::array();
        for (const std::string& engine : o->engines) {
          Result<void> failed;
          auto [line, value] = measure(*o, engine, options, failed);
          if (!failed && o->engines.size() == 1 && !o->results) return failed;
          console.line(line);
          std::fflush(stdout);
          answers.push_back(std::move(value));
        }
        console.object({{o->results ? "ran" : "ns", answers}});
        return {};
      };
    },
    .hidden = true,
};

}  // namespace tenon::cli::verb_stopwatch
