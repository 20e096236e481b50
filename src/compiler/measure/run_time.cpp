// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/run_time.h"

#include <algorithm>
#include <chrono>

#include "compiler/measure/stopwatch.h"
#include "compiler/port_values.h"

namespace tenon::compiler {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFewest = 5, kMost = 1000;
constexpr std::chrono::milliseconds kLong{100};

/// An engine with inputs for it, ready to run.
struct Ready {
  std::vector<Tensor> inputs;
  std::unique_ptr<runtime::Context> context;
  runtime::RunOptions running;
};

Result<Ready> ready(const std::filesystem::path& path, const LoadOptions& options) {
  const auto engine = TRY(load(path, options));
  Ready out{TRY(drawn_inputs(engine->inputs())), TRY(runtime::Context::create(engine)), {}};
  out.running.threads = options.threads;
  return out;
}

}  // namespace

Result<double> run_time(const std::filesystem::path& path, const LoadOptions& options) {
  const auto [inputs, context, running] = TRY(ready(path, options));
  TRY(context->run(inputs, running));
  std::vector<double> samples;
  for (const auto begin = Clock::now(); samples.size() < kFewest || (samples.size() < kMost && Clock::now() - begin < kLong);) {
    context->reset();  // every run does the same
    const auto start = Clock::now();
    TRY(context->run(inputs, running));
    samples.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

Result<void> keep_results(const std::filesystem::path& path, const LoadOptions& options) {
  const auto [inputs, context, running] = TRY(ready(path, options));
  const auto results = TRY(context->run(inputs, running));
  files::NamedTensors named;
  for (const Tensor& t : results) named.emplace_back(std::to_string(named.size()), t);
  return files::write_npz(results_file(path), named);
}

}  // namespace tenon::compiler
