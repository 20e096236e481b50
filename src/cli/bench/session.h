// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

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
  std::string peer, trace, html, entry;
  int runs = 30;
  double seconds = 30;
  bool cold = false, serve = false, explain = false;
};

/// Samples that a median needs.
inline constexpr size_t kEnoughSamples = 5;

/// What is measured, warm and ready.
struct BenchSession {
  std::shared_ptr<runtime::Engine> engine;
  std::vector<Tensor> inputs;
  std::unique_ptr<runtime::Context> context;
  runtime::RunOptions options;
  size_t entry = 0;  ///< of the engine, that runs
  std::unique_ptr<Peer> peer;
  Views views;
  double load_ms = 0, first_ms = 0, warm_ms = 0;
  uint64_t rss = 0;  ///< before anything was allocated to measure with

  /// The program that the inputs run.
  const runtime::Program& program() const { return engine->program_for(inputs, entry); }
  /// Every run begins at the initial values of states.
  Result<std::span<const Tensor>> run();
  Result<double> timed_run();
  /// One run that does not count, then `count` that do; with a stream, through which the caches are evicted before each, all count.
  Result<std::vector<double>> runs(int count, const MemoryStream* evict);
};

/// Loads or compiles the model, runs it until it is warm, and starts the other engine. Errors: those of these steps.
Result<BenchSession> prepare_session(const BenchOptions& options, Console& console);

/// What the machine can do at this moment.
struct MachineLimits {
  Peaks peaks;
  MemoryStream memory;
  double stream_ms = 0;  ///< how long a pass through memory takes
  MachineLimits(int threads, const ByProducts& flops);
};

/// Samples until there are as many quiet ones as requested, or the time is over. Errors: those of runs.
Result<std::vector<Sample>> take_samples(const BenchOptions& options, BenchSession& session, const MachineLimits& limits, Console& console);

}  // namespace tenon::cli
