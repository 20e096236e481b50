// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/measure_run.h"

#include <algorithm>
#include <chrono>

#include "compiler/measure/engine_runner.h"
#include "compiler/port_values.h"

namespace tenon::compiler {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMinRuns = 5, kMaxRuns = 1000;
constexpr std::chrono::milliseconds kMeasureTime{100};  ///< no run starts after it, but for the first kMinRuns

/// An engine with inputs for it, ready to run.
struct PreparedRun {
  std::vector<Tensor> inputs;
  std::unique_ptr<runtime::Context> context;
  runtime::RunOptions run_options;
};

Result<PreparedRun> prepare_run(const std::filesystem::path& path, const LoadOptions& options) {
  const auto engine = TRY(load(path, options));
  PreparedRun out{TRY(drawn_inputs(engine->inputs())), TRY(runtime::Context::create(engine)), {}};
  out.run_options.threads = options.threads;
  return out;
}

}  // namespace

Result<double> measure_run_ns(const std::filesystem::path& path, const LoadOptions& options) {
  const auto [inputs, context, run_options] = TRY(prepare_run(path, options));
  TRY(context->run(inputs, run_options));
  std::vector<double> samples;
  for (const auto begin = Clock::now(); samples.size() < kMinRuns || (samples.size() < kMaxRuns && Clock::now() - begin < kMeasureTime);) {
    context->reset();  // every run starts from the same state
    const auto start = Clock::now();
    TRY(context->run(inputs, run_options));
    samples.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

Result<void> write_results(const std::filesystem::path& path, const LoadOptions& options) {
  const auto [inputs, context, run_options] = TRY(prepare_run(path, options));
  const auto results = TRY(context->run(inputs, run_options));
  files::NamedTensors named;
  for (const Tensor& t : results) named.emplace_back(std::to_string(named.size()), t);
  return files::write_npz(results_file(path), named);
}

}  // namespace tenon::compiler
