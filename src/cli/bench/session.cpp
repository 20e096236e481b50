// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cli/console/console.h"

namespace tenon::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Least length of a sample, so that it and the peaks measured around it run at the same clock rate. A cold sample includes the evictions.
constexpr double kSampleMs = 20;
constexpr size_t kTriesPerSample = 3;

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

Result<void> start_peer(const BenchOptions& o, BenchSession& b) {
  if (o.peer.empty()) return {};
  if (o.engine.is_engine())
    return fail(Code::bad_usage, "--vs " + o.peer, "the other engine cannot read an engine of Tenon's").advice("give the ONNX model");
  if (!b.engine->states().empty())
    return fail(Code::not_supported, "--vs " + o.peer, "not supported yet: a model with states against an engine that has none")
        .expected("a model whose states are inputs and outputs")
        .found(std::to_string(b.engine->states().size()) + " states")
        .advice("leave --state out: both are measured with the states as inputs");
  const files::NamedTensors named = TRY(peer_inputs(*b.engine, b.inputs));
  const bool fixed = !o.engine.model.shapes.empty();
  b.peer = TRY(
      Peer::start({o.peer, o.engine.model.path, o.engine.model.external_data, b.options.threads, fixed, o.engine.model.outputs}, named));
  return {};
}

}  // namespace

Result<std::span<const Tensor>> BenchSession::run() {
  context->reset();
  return context->run(inputs, options, entry);
}

Result<double> BenchSession::timed_run() {
  context->reset();
  const auto start = Clock::now();
  TRY(context->run(inputs, options, entry));
  return ms_since(start);
}

Result<std::vector<double>> BenchSession::runs(int count, const MemoryStream* evict) {
  if (!evict) TRY(timed_run());
  std::vector<double> out;
  for (int k = 0; k < count; ++k) {
    if (evict) evict->read();
    out.push_back(TRY(timed_run()));
  }
  return out;
}

void take_peaks(Sample& s, const MachineLimits& limits) {
  s.all_peaks.push_back(limits.peaks.measure());
  s.peaks.push_back(s.all_peaks.back()[0]);
}

MachineLimits::MachineLimits(int threads, const ByProductKind& flops) : peaks(threads, flops), memory(threads) {
  const auto start = Clock::now();
  memory.read();
  stream_ms = ms_since(start);
}

Result<BenchSession> prepare_session(const BenchOptions& o, Console& console) {
  BenchSession b;
  const ViewOptions wanted{.page = !o.html.empty(), .explanation = o.explain, .entry = o.entry};
  const auto loading = Clock::now();
  b.engine = TRY(wanted.any() ? engine_with_views(o.engine, wanted, b.views, console) : o.engine.engine(console));
  b.load_ms = ms_since(loading);
  if (!o.entry.empty()) b.entry = TRY(b.engine->entry(o.entry));
  b.inputs = TRY(o.inputs.inputs(b.engine->inputs(b.entry), TRY(o.engine.model.import_options()).shapes));
  if (wanted.any()) TRY(check_inputs_of_views(*b.engine, b.inputs, b.entry));
  const int pool_size = default_thread_pool().size();
  b.options.check_memory = o.engine.check_memory;
  b.options.seed = o.inputs.seed;
  b.options.threads = o.engine.threads > 0 ? std::min(o.engine.threads, pool_size) : pool_size;
  console.progress("first run");
  const auto start = Clock::now();
  b.context = TRY(runtime::Context::create(b.engine));
  TRY(b.timed_run());
  b.first_ms = ms_since(start);
  console.progress("other engine");
  TRY(start_peer(o, b));
  console.progress("warm-up");
  std::vector<double> times;
  for (const auto warm = Clock::now(); times.size() < 3 || (ms_since(warm) < 300 && times.size() < 1000);)
    times.push_back(TRY(b.timed_run()));
  b.warm_ms = median(times);
  b.rss = peak_rss_bytes_of(0);
  return b;
}

namespace {

int runs_in_sample(double run_ms) { return static_cast<int>(std::clamp(std::ceil(kSampleMs / std::max(run_ms, 1e-4)), 1.0, 1e5)); }

/// Takes a sample: memory bandwidth, runs of this engine, runs of the peer; peaks are measured before, between and after.
Result<Sample> take_sample(BenchSession& b, const MachineLimits& limits, bool cold, int ours, int others) {
  Sample s;
  s.dram.push_back(limits.memory.read());
  take_peaks(s, limits);
  s.ours_ms = TRY(b.runs(ours, cold ? &limits.memory : nullptr));
  take_peaks(s, limits);
  if (!b.peer) return s;
  s.other_ms = TRY(b.peer->run(others, cold));
  take_peaks(s, limits);
  return s;
}

}  // namespace

Result<std::vector<Sample>> take_samples(const SampleBudget& budget, const std::function<Result<Sample>()>& take, Console& console) {
  const size_t wanted = static_cast<size_t>(budget.runs);
  std::vector<Sample> samples;
  const auto start = Clock::now();
  size_t quiet = 0;
  while (quiet < wanted && samples.size() < wanted * kTriesPerSample &&
         (samples.size() < kEnoughSamples || ms_since(start) < budget.seconds * 1e3)) {
    samples.push_back(TRY(take()));
    quiet = quiet_samples(samples, 0).count;
    console.progress(fmt::format("sample {} of {}, {} tried", quiet, wanted, samples.size()));
  }
  return samples;
}

Result<std::vector<Sample>> take_samples(const BenchOptions& o, BenchSession& b, const MachineLimits& limits, Console& console) {
  const double eviction_ms = o.cold ? limits.stream_ms : 0;
  const int ours = runs_in_sample(b.warm_ms + eviction_ms);
  const int others = b.peer ? runs_in_sample(median(TRY(b.peer->run(3))) + eviction_ms) : 0;
  return take_samples({o.runs, o.seconds}, [&] { return take_sample(b, limits, o.cold, ours, others); }, console);
}

}  // namespace tenon::cli
