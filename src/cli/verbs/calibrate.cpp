// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

#include "base/activity.h"
#include "base/threads/thread_pool.h"
#include "cli/bench/machine_figures.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/comma_list.h"
#include "cli/options/library_options.h"
#include "compiler/measure/calibrate.h"
#include "compiler/measure/calibration.h"
#include "compiler/measure/child_process_runner.h"
#include "compiler/measure/machine_file.h"
#include "compiler/partition_data.h"
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
  out.measuring = TRY(compiler::child_process_measure_options({"/proc/self/exe", "time"}, every, from, {}));
  return out;
}

/// The backends that are requested, which must be there; where none is, those that are.
Result<std::vector<std::string>> chosen(const Options& o, const compiler::Registry& registry) {
  auto out = TRY(names_between_commas("--backend", o.backends));
  TRY(registry.named(out));
  if (!out.empty()) return out;
  for (const backend::Backend* b : registry.all()) {
    const Activity activity(b->name(), "opened its library");
    if (b->library()) out.emplace_back(b->name());
  }
  return out;
}

using Json = nlohmann::ordered_json;

/// Calibrates one backend. Returns its overheads, which are stored, or the reason why there are none.
Result<Json> calibrate_one(const std::string& name, const compiler::CompileOptions& options, compiler::Calibration& calibration,
                           std::string& text) {
  Json out{{"backend", name}};
  const backend::Backends backends = TRY(options.registry->named(std::vector<std::string>{name}));
  if (backends[0]->is_host()) {
    text = "the baseline of the others: its kernels are steps of the program";
    out.update(compiler::costs_data(backends[0]->overheads()));
  } else if (const auto found = compiler::calibrate(backends, 0, ops::table(), options)) {
    TRY(calibration.add(*backends[0], *found));
    text = compiler::costs_text(*found);
    out.update(compiler::costs_data(*found));
  } else {
    text = found.error()->what;
    out["why_not"] = found.error().text();
  }
  return out;
}

Result<Json> calibrate_machine(const Options& o, Console& console) {
  console.progress("the machine");
  const int pool_size = default_thread_pool().size();
  const codegen::Machine found = measure_machine(*TRY(codegen::target_for()), o.threads > 0 ? std::min(o.threads, pool_size) : pool_size);
  TRY(compiler::write_machine(compiler::cache_path(compiler::kMachineFile), found));
  const auto figure = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string("-"); };
  const auto rates = [&](std::string name, const codegen::Bandwidth& b) {
    return std::vector<std::string>{std::move(name), figure(b.one_core), figure(b.all_cores)};
  };
  console.line();
  console.table({{"the machine", "one core", fmt::format("{} threads", found.threads)},
                 {"f32, GFLOP/s", figure(found.f32_gflops), figure(found.f32_gflops * found.threads)},
                 {"bf16, GFLOP/s", figure(found.bf16_gflops), figure(found.bf16_gflops * found.threads)},
                 {"int8, GFLOP/s", figure(found.int8_gflops), figure(found.int8_gflops * found.threads)},
                 rates("second-level cache, GB/s", found.l2_bandwidth),
                 rates("third-level cache, GB/s", found.l3_bandwidth),
                 rates("memory, GB/s", found.memory_bandwidth),
                 {"exchange between cores, GB/s", "-", figure(found.shared_read_gbps)},
                 {"and written over, GB/s", "-", figure(found.shared_write_gbps)},
                 {"a region, ns", "-", figure(found.fork_join_ns)}});
  return machine_data(found);
}

Result<void> calibrate_all(const Options& o, Console& console) {
  const auto options = TRY(compile_options(o));
  const auto file = compiler::cache_path(compiler::kCalibrationFile);
  if (file.empty())
    return fail(Code::bad_usage, "calibrate", "there is no folder to keep what is found in").expected("HOME or XDG_CACHE_HOME to be set");
  compiler::Calibration calibration(file);
  std::vector<std::vector<std::string>> rows{{"backend", "a start"}};
  auto json = Json::array();
  for (const std::string& name : TRY(chosen(o, *options.registry))) {
    console.progress(name);
    rows.push_back({name, ""});
    json.push_back(TRY(calibrate_one(name, options, calibration, rows.back()[1])));
  }
  console.table(rows);
  const Json machine = TRY(calibrate_machine(o, console));
  console.line();
  console.line(fmt::format("kept in {}, for --assign cost, and beside it, for bench --explain", file.string()));
  console.object({{"backends", json}, {"file", file.string()}, {"machine", machine}});
  return {};
}

}  // namespace

VERB(calibrate) {
    .summary = "measure the overhead of segments of each backend (for --assign cost) and peak rates of the machine (for bench --explain)",
    .examples =
        "  tenon calibrate\n"
        "  tenon calibrate --backend onnxruntime --backend-lib onnxruntime=/opt/ort/lib/libonnxruntime.so\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.add_option("--backend", o->backends, "backends to measure (default: all that are available)")
          ->type_name("NAME[,NAME]")
          ->allow_extra_args(false);
      app.add_option("--threads", o->threads, "threads to run on (default: what this process may use)")->check(at_least(0));
      o->libraries.add_to(app);
      return [o](Console& console) { return calibrate_all(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_calibrate
