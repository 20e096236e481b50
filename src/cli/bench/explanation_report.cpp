// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/explanation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/bench/machine_figures.h"
#include "cli/console/console.h"
#include "compiler/measure/cache_path.h"
#include "compiler/measure/machine_file.h"

namespace tenon::cli {
namespace {

constexpr size_t kWidest = 40;

std::string shortened(const std::string& label) { return label.size() > kWidest ? label.substr(0, kWidest - 3) + "..." : label; }

std::vector<std::string> row_of(const ExplainedKernel& k) {
  return {shortened(k.label),
          std::to_string(k.calls),
          fmt::format("{:.4f}", k.ms),
          fmt::format("{:.4f}", k.predicted_ms),
          fmt::format("{:.2f}", k.ms / k.predicted_ms),
          k.limit,
          fmt::format("{:.0f} %", 100 * k.limit_ms / k.ms),
          k.why,
          k.tactic};
}

nlohmann::ordered_json data_of(const ExplainedKernel& k) {
  return {{"label", k.label},
          {"calls", k.calls},
          {"ms", k.ms},
          {"predicted_ms", k.predicted_ms},
          {"ratio", k.ms / k.predicted_ms},
          {"limit", k.limit},
          {"limit_share", k.limit_ms / k.ms},
          {"tactic", k.tactic},
          {"why", k.why}};
}

}  // namespace

Result<CurrentMachine> current_machine(int threads) {
  if (const auto kept = compiler::read_machine(compiler::cache_path(compiler::kMachineFile), threads)) return CurrentMachine{*kept, true};
  return CurrentMachine{codegen::default_machine(*TRY(codegen::target_for()), threads)};
}

nlohmann::ordered_json report_explanation(const std::vector<ExplainedKernel>& kernels, const CurrentMachine& here, Console& console) {
  std::vector<std::vector<std::string>> rows{{"kernel", "calls", "ms", "predicted", "ratio", "limit", "of it", "why", "tactic"}};
  auto list = nlohmann::ordered_json::array();
  for (const ExplainedKernel& k : kernels) {
    rows.push_back(row_of(k));
    list.push_back(data_of(k));
  }
  const double error = median_error(kernels);
  console.line();
  console.table(rows);
  if (std::ranges::any_of(kernels, [](const ExplainedKernel& k) { return k.limit_ms > k.ms; }))
    console.line("a limit above 100 % means that the machine was busy, or its caches colder, when its figures were measured");
  console.line(fmt::format("predictions are {:.1f} % off in the median, by the figures of {}", 100 * error,
                           here.measured ? "`tenon calibrate`" : "a usual machine (`tenon calibrate` measures this one)"));
  return {{"median_error", error}, {"calibrated", here.measured}, {"machine", machine_data(here.machine)}, {"kernels", list}};
}

}  // namespace tenon::cli
