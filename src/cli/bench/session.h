// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>

#include "cli/bench/measure.h"
#include "cli/bench/memory_stream.h"
#include "cli/bench/peer.h"
#include "cli/bench/views.h"
#include "cli/options/input_options.h"

namespace tenon::cli {

class Console;

/// The arguments of `tenon bench`.
struct BenchOptions {
  EngineOptions engine;
  InputOptions inputs;
  std::string peer, trace, html, entry;  ///< --vs, --trace, --html, --entry
  int runs = 30;                         ///< quiet samples to take
  double seconds = 30;                   ///< time limit of sampling
  bool cold = false;                     ///< evict the caches before each run
  bool serve = false, explain = false;   ///< --serve, --explain
};

/// The least number of samples for a median.
inline constexpr size_t kEnoughSamples = 5;

/// The engine that is measured, after warm-up, with its inputs and the peer.
struct BenchSession {
  std::shared_ptr<runtime::Engine> engine;
  std::vector<Tensor> inputs;
  std::unique_ptr<runtime::Context> context;
  runtime::RunOptions options;
  size_t entry = 0;  ///< index of the measured entry
  std::unique_ptr<Peer> peer;
  Views views;
  double load_ms = 0, first_ms = 0, warm_ms = 0;  ///< times of loading, of the first run, and of the last warm-up run
  uint64_t rss = 0;                               ///< resident memory before buffers for measuring were allocated

  /// The program that the inputs run.
  const runtime::Program& program() const { return engine->program_for(inputs, entry); }
  /// Resets all states, then runs once.
  Result<std::span<const Tensor>> run();
  Result<double> timed_run();
  /// Times of `count` runs in ms, after a warm-up run. evict: evicts the caches before each run, without a warm-up run; may be null.
  Result<std::vector<double>> runs(int count, const MemoryStream* evict);
};

/// Loads or compiles the model, runs it until it is warm, and starts the other engine. Errors: those of these steps.
Result<BenchSession> prepare_session(const BenchOptions& options, Console& console);

/// Measures the current limits of the machine: peak rates and memory bandwidth.
struct MachineLimits {
  Peaks peaks;
  MemoryStream memory;
  double stream_ms = 0;  ///< time of one pass through memory
  MachineLimits(int threads, const ByProductKind& flops);
};

/// Measures the peaks and appends them to the sample.
void take_peaks(Sample& sample, const MachineLimits& limits);

/// When to stop taking samples: after this number of quiet ones, or after this time.
struct SampleBudget {
  int runs = 30;
  double seconds = 30;
};
/// Calls `take` until there are as many quiet samples as requested, or the time limit is reached, but kEnoughSamples times at least.
/// Errors: those of `take`.
Result<std::vector<Sample>> take_samples(const SampleBudget& budget, const std::function<Result<Sample>()>& take, Console& console);

/// Samples of the session's runs. Errors: those of runs.
Result<std::vector<Sample>> take_samples(const BenchOptions& options, BenchSession& session, const MachineLimits& limits, Console& console);

}  // namespace tenon::cli
