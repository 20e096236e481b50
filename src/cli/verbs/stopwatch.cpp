// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>

#include "cli/bench/measure.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/options/input_options.h"
#include "cli/options/library_options.h"
#include "compiler/load.h"

namespace tenon::cli::verb_stopwatch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFewest = 5, kMost = 1000;
constexpr std::chrono::milliseconds kLong{100};

struct Options {
  std::vector<std::string> engines;
  LibraryOptions libraries;
  int threads = 0;
};

/// Nanoseconds of a run: the median of at least five, behind one that does not count.
Result<double> time_of(const std::string& path, const Options& o) {
  const auto engine = TRY(compiler::load(path, {.threads = o.threads, .libraries = TRY(o.libraries.libraries())}));
  const auto inputs = TRY(InputOptions().inputs(*engine, {}));
  auto context = TRY(runtime::Context::create(engine));
  runtime::RunOptions options;
  options.threads = o.threads;
  TRY(context->run(inputs, options));
  std::vector<double> samples;
  for (const auto begin = Clock::now(); samples.size() < kFewest || (samples.size() < kMost && Clock::now() - begin < kLong);) {
    const auto start = Clock::now();
    TRY(context->run(inputs, options));
    samples.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return median(samples);
}

}  // namespace

VERB(stopwatch) {
    .summary = "time engines, one behind the other: a line each, as soon as it is known",
    .examples =
        "  tenon stopwatch a.tenon b.tenon\n"
        "  tenon stopwatch a.tenon --threads 1\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("ENGINE", o->engines, "engine files")->required();
      app.add_option("--threads", o->threads, "threads to run on (default: what this process may use)")->check(CLI::NonNegativeNumber);
      o->libraries.add_to(app);
      return [o](Console& console) -> Result<void> {
        auto told = nlohmann::ordered_json::array();
        for (const std::string& engine : o->engines) {
          const auto ns = time_of(engine, *o);
          if (!ns && o->engines.size() == 1) return std::unexpected(ns.error());
          console.line(ns ? fmt::format("{:.0f} ns", *ns) : fmt::format("- {}", ns.error()->what));
          std::fflush(stdout);
          told.push_back(ns ? nlohmann::ordered_json(*ns) : nullptr);
        }
        console.object({{"ns", told}});
        return {};
      };
    },
};

}  // namespace tenon::cli::verb_stopwatch
