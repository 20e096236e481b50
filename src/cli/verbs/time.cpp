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

namespace tenon::cli::verb_time {
namespace {

struct Options {
  std::vector<std::string> engines;
  LibraryOptions libraries;
  PluginOptions plugins;
  int threads = 0;
  bool write_results = false;
};

/// The line that is printed for an engine, and its value in the JSON output. failed: the error, where it does not run.
std::pair<std::string, nlohmann::ordered_json> time_or_run(const Options& o, const std::string& engine,
                                                           const compiler::LoadOptions& options, Result<void>& failed) {
  if (o.write_results) {
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

VERB(time) {
    .summary = "run engines on random inputs and print the median time of each",
    .examples =
        "  tenon time a.tenon b.tenon        a line when ready, then one line per engine\n"
        "  tenon time a.tenon --threads 1\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("ENGINE", o->engines, "engine files")->required()->type_name("FILE");
      app.add_option("--threads", o->threads, "threads to run on (default: what this process may use)")->check(at_least(0));
      app.add_flag("--results", o->write_results, "run each engine once and write its results to ENGINE.npz, without timing");
      o->libraries.add_to(app);
      o->plugins.add_to(app);
      return [o](Console& console) -> Result<void> {
        const compiler::LoadOptions options{.threads = o->threads,
                                            .ops = TRY(o->plugins.plugins()).ops,
                                            .libraries = TRY(o->plugins.added_to(TRY(o->libraries.libraries())))};
        console.line("ready");
        std::fflush(stdout);
        auto values = nlohmann::ordered_json::array();
        for (const std::string& engine : o->engines) {
          Result<void> failed;
          auto [line, value] = time_or_run(*o, engine, options, failed);
          if (!failed && o->engines.size() == 1 && !o->write_results) return failed;
          console.line(line);
          std::fflush(stdout);
          values.push_back(std::move(value));
        }
        console.object({{o->write_results ? "ran" : "ns", values}});
        return {};
      };
    },
    .hidden = true,
};

}  // namespace tenon::cli::verb_time
