// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <numeric>

#include "base/thread_pool.h"
#include "base/version.h"
#include "cli/bench/explanation_report.h"
#include "cli/bench/measure.h"
#include "cli/bench/memory_stream.h"
#include "cli/bench/peer.h"
#include "cli/bench/serve.h"
#include "cli/bench/trace.h"
#include "cli/bench/views.h"
#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/option_groups.h"
#include "cli/console/verb.h"
#include "cli/options/input_options.h"
#include "files/atomic_write.h"

namespace tenon::cli::verb_bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Options {
  EngineOptions engine;
  InputOptions inputs;
  std::string peer, trace, html;
  int runs = 30;
  double seconds = 30;
  bool cold = false, serve = false, explain = false;
};

/// A sample is at least this long, so that the peaks beside it see the same weather; cold, with the evictions in it.
constexpr double kSampleMs = 20;
constexpr size_t kTriesPerSample = 3, kEnough = 5;
constexpr uint32_t kProfiledRuns = 20;
constexpr size_t kLabelWidth = 72;

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// What is measured, warm and ready.
struct Bench {
  std::shared_ptr<runtime::Engine> engine;
  std::vector<Tensor> inputs;
  std::unique_ptr<runtime::Context> context;
  runtime::RunOptions options;
  std::unique_ptr<Peer> peer;
  Views views;
  double load_ms = 0, first_ms = 0, warm_ms = 0;
  uint64_t rss = 0;  ///< before anything was allocated to measure with

  Result<double> timed_run() {
    const auto start = Clock::now();
    TRY(context->run(inputs, options));
    return ms_since(start);
  }
  /// One run that does not count, then `count` that do; with a stream, through which the caches are evicted before each, all count.
  Result<std::vector<double>> runs(int count, const MemoryStream* evict) {
    if (!evict) TRY(timed_run());
    std::vector<double> out;
    for (int k = 0; k < count; ++k) {
      if (evict) evict->read();
      out.push_back(TRY(timed_run()));
    }
    return out;
  }
};

/// What the machine can do at this moment.
struct Limits {
  Peaks peaks;
  MemoryStream memory;
  double stream_ms = 0;  ///< how long a pass through memory takes
  Limits(int threads, const ByProducts& flops) : peaks(threads, flops), memory(threads) {
    const auto start = Clock::now();
    memory.read();
    stream_ms = ms_since(start);
  }
};

Result<void> start_peer(const Options& o, Bench& b) {
  if (o.peer.empty()) return {};
  if (o.engine.is_engine())
    return fail(Code::bad_usage, "--vs " + o.peer, "the other engine cannot read an engine of Tenon's").advice("give the ONNX model");
  const files::NamedTensors named = TRY(peer_inputs(*b.engine, b.inputs));
  const bool fixed = !o.engine.model.shapes.empty();
  b.peer = TRY(
      Peer::start({o.peer, o.engine.model.path, o.engine.model.external_data, b.options.threads, fixed, o.engine.model.outputs}, named));
  return {};
}

Result<Bench> prepare(const Options& o, Console& console) {
  Bench b;
  const ViewOptions wanted{.page = !o.html.empty(), .explanation = o.explain};
  const auto loading = Clock::now();
  b.engine = TRY(wanted.any() ? engine_with_views(o.engine, wanted, b.views, console) : o.engine.engine(console));
  b.load_ms = ms_since(loading);
  b.inputs = TRY(o.inputs.inputs(*b.engine, TRY(o.engine.model.import_options()).shapes));
  if (wanted.any()) TRY(check_inputs_of_views(*b.engine, b.inputs));
  const int pool_size = default_thread_pool().size();
  b.options.guard = o.engine.guard;
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

int runs_in_sample(double run_ms) { return static_cast<int>(std::clamp(std::ceil(kSampleMs / std::max(run_ms, 1e-4)), 1.0, 1e5)); }

void take_peaks(Sample& s, const Limits& limits) {
  s.all_peaks.push_back(limits.peaks.measure());
  s.peaks.push_back(s.all_peaks.back()[0]);
}

/// What memory gives, then ours, then the other's, a peak before, between and after.
Result<Sample> take_sample(Bench& b, const Limits& limits, bool cold, int ours, int others) {
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

Result<std::vector<Sample>> take_samples(const Options& o, Bench& b, const Limits& limits, Console& console) {
  const double stream_ms = o.cold ? limits.stream_ms : 0;
  const int ours = runs_in_sample(b.warm_ms + stream_ms);
  const int others = b.peer ? runs_in_sample(median(TRY(b.peer->run(3))) + stream_ms) : 0;
  const size_t wanted = static_cast<size_t>(o.runs);
  std::vector<Sample> samples;
  const auto start = Clock::now();
  size_t quiet = 0;
  while (quiet < wanted && samples.size() < wanted * kTriesPerSample && (samples.size() < kEnough || ms_since(start) < o.seconds * 1e3)) {
    samples.push_back(TRY(take_sample(b, limits, o.cold, ours, others)));
    quiet = quiet_samples(samples, 0).count;
    console.progress(fmt::format("sample {} of {}, {} tried", quiet, wanted, samples.size()));
  }
  return samples;
}

struct Figures {
  std::vector<double> times, other_times, ratios, dram;
  QuietSamples quiet;
  double median_ms = 0, gflops = 0;
  ByProducts flops{}, peaks{};         ///< of a run; GFLOP/s
  double peak_share = 0;               ///< of the time that the flops take at the peaks of their kinds
  double weight_gbps = 0, memory = 0;  ///< GB/s: weights read once a run, what memory gave beside
  double roofline_share = 0;           ///< of the time that the flops at the peaks, or the weights at memory's rate, take at least
};

/// The median over samples, of each kind.
ByProducts peaks_of(const QuietSamples& quiet) {
  ByProducts out{};
  for (size_t p = 0; p < kProducts; ++p) {
    std::vector<double> measured;
    for (const Sample* s : quiet.samples)
      for (const ByProducts& peaks : s->all_peaks) measured.push_back(peaks[p]);
    out[p] = median(measured);
  }
  return out;
}

Figures figures_of(std::span<const Sample> samples, const ByProducts& flops, double weight_bytes, Console& console) {
  Figures f;
  f.flops = flops;
  f.quiet = quiet_samples(samples, std::min(kEnough, samples.size()));
  for (const Sample* s : f.quiet.samples) {
    f.times.insert(f.times.end(), s->ours_ms.begin(), s->ours_ms.end());
    f.other_times.insert(f.other_times.end(), s->other_ms.begin(), s->other_ms.end());
    f.dram.insert(f.dram.end(), s->dram.begin(), s->dram.end());
    if (!s->other_ms.empty()) f.ratios.push_back(median(s->other_ms) / median(s->ours_ms));
  }
  f.median_ms = median(f.times);
  f.gflops = std::accumulate(flops.begin(), flops.end(), 0.0) / f.median_ms / 1e6;
  f.peaks = peaks_of(f.quiet);
  f.peak_share = least_ms(flops, f.peaks) / f.median_ms;
  f.weight_gbps = weight_bytes / f.median_ms / 1e6;
  f.memory = median(f.dram);
  f.roofline_share = std::max(f.peak_share, f.weight_gbps / f.memory);
  if (f.quiet.samples.size() > f.quiet.count)
    console.warn(fmt::format("the machine was not quiet: {} of {} samples would count; the figures are of all of them", f.quiet.count,
                             f.quiet.tried));
  return f;
}

std::string quiet_text(const QuietSamples& k) { return fmt::format("{} of {} samples kept", k.samples.size(), k.tried); }

/// Largest absolute difference over floating results; what is not a float must be equal (infinity where it is not).
Result<double> largest_difference(Bench& b) {
  const auto others = TRY(b.peer->outputs());
  const auto ours = TRY(b.context->run(b.inputs, b.options));
  double largest = 0;
  for (size_t k = 0; k < ours.size(); ++k) {
    if (k >= others.size() || ours[k].shape() != others[k].shape() || ours[k].dtype() != others[k].dtype())
      return fail(Code::device_failed, fmt::format("output '{}'", b.engine->outputs()[k].name), "the engines' results have different types")
          .expected(k < others.size() ? type_text(others[k].dtype(), others[k].shape()) : "no such output")
          .found(type_text(ours[k].dtype(), ours[k].shape()));
    if (ours[k].dtype() == DType::string) continue;
    for (int64_t i = 0; i < ours[k].count(); ++i) {
      const double x = ours[k].number(i), y = others[k].number(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double d = std::abs(x - y);
      largest = std::max(largest, std::isnan(d) ? std::numeric_limits<double>::infinity() : d);
    }
  }
  return largest;
}

Json json_of_peer(const Peer& p, const Figures& f, double difference) {
  const Interval i = median_interval(f.ratios);
  return {{"name", p.name},
          {"version", p.version},
          {"median_ms", median(f.other_times)},
          {"p5_ms", quantile(f.other_times, 0.05)},
          {"p50_ms", median(f.other_times)},
          {"p95_ms", quantile(f.other_times, 0.95)},
          {"p99_ms", quantile(f.other_times, 0.99)},
          {"load_ms", p.load_ms},
          {"first_ms", p.first_ms},
          {"peak_rss_bytes", p.peak_rss_bytes()},
          {"ratio", median(f.ratios)},
          {"ratio_low", i.low},
          {"ratio_high", i.high},
          {"pairs_kept", f.ratios.size()},
          {"pairs_tried", f.quiet.tried},
          {"largest_difference", std::isfinite(difference) ? Json(difference) : Json("inf")}};
}

Result<Json> report_peer(Bench& b, const Figures& f, Console& console) {
  const Interval i = median_interval(f.ratios);
  const double difference = TRY(largest_difference(b));
  const Peer& p = *b.peer;
  console.line();
  console.line(fmt::format("{} {}: p50 {:.4g} ms, p95 {:.4g}, p99 {:.4g}; load {:.4g} ms, first run {:.4g} ms, peak memory {:.1f} MB",
                           p.name, p.version, median(f.other_times), quantile(f.other_times, 0.95), quantile(f.other_times, 0.99),
                           p.load_ms, p.first_ms, static_cast<double>(p.peak_rss_bytes()) / 1e6));
  console.line(fmt::format(
      "Tenon is {:.3f} times as fast (95 % interval {:.3f} to {:.3f}, {} pairs of {} tried); largest difference of the results {:.3g}",
      median(f.ratios), i.low, i.high, f.ratios.size(), f.quiet.tried, difference));
  return json_of_peer(p, f, difference);
}

/// "f32 500, int8 2000"; of f32 alone the number.
std::string peaks_text(const Figures& f) {
  std::string out = fmt::format("{:.4g}", f.peaks[0]);
  for (size_t p = 1; p < kProducts; ++p)
    if (f.flops[p] > 0) out += fmt::format(", {} {:.4g}", name_of(static_cast<Products>(p)), f.peaks[p]);
  return out.contains(',') ? "f32 " + out : out;
}

/// By the name of each kind that the run has operations of.
Json json_of_products(const Figures& f) {
  Json out = Json::object();
  for (size_t p = 0; p < kProducts; ++p)
    if (f.flops[p] > 0) out[name_of(static_cast<Products>(p))] = {{"gflop", f.flops[p] / 1e9}, {"peak_gflops", f.peaks[p]}};
  return out;
}

std::string shapes_text(const Bench& b) {
  std::string out;
  for (size_t k = 0; k < b.inputs.size(); ++k)
    out += fmt::format("{}{}[{}]", k ? ", " : "", b.engine->inputs()[k].name, fmt::join(b.inputs[k].shape(), ","));
  return out;
}

Json json_of_shapes(const Bench& b) {
  Json out = Json::object();
  for (size_t k = 0; k < b.inputs.size(); ++k) out[b.engine->inputs()[k].name] = b.inputs[k].shape();
  return out;
}

void report_own(const Bench& b, const Figures& f, Console& console) {
  console.line(fmt::format("at {}", shapes_text(b)));
  console.line(fmt::format("p50 {:.4g} ms, p95 {:.4g}, p99 {:.4g}; {:.4g} runs a second; {} threads; {}", f.median_ms,
                           quantile(f.times, 0.95), quantile(f.times, 0.99), 1e3 / f.median_ms, b.options.threads, quiet_text(f.quiet)));
  console.line(fmt::format("{:.4g} GFLOP/s, {:.1f} % of the peak measured beside it ({})", f.gflops, 100 * f.peak_share, peaks_text(f)));
  if (f.peak_share > 1)
    console.line("a share of the peak above 100 % says that the machine was busy while the peak was measured: run again when it is quiet");
  console.line(fmt::format("{:.4g} GB/s of weights, {:.1f} % of what memory gave beside it ({:.4g})", f.weight_gbps,
                           100 * f.weight_gbps / f.memory, f.memory));
  console.line(
      fmt::format("load {:.4g} ms, first run {:.4g} ms, peak memory {:.1f} MB", b.load_ms, b.first_ms, static_cast<double>(b.rss) / 1e6));
  console.line();
}

Json report_kernels(const std::vector<KernelTime>& kernels, Console& console) {
  std::vector<std::vector<std::string>> rows{{"kernel", "calls", "ms", "share", "GFLOP/s"}};
  Json json = Json::array();
  for (const KernelTime& k : kernels) {
    const std::string label = k.label.size() > kLabelWidth ? k.label.substr(0, kLabelWidth - 3) + "..." : k.label;
    rows.push_back({label, std::to_string(k.calls), fmt::format("{:.4f}", k.ms), fmt::format("{:.1f} %", 100 * k.share),
                    k.gflops > 0 ? fmt::format("{:.1f}", k.gflops) : "-"});
    json.push_back({{"label", k.label}, {"calls", k.calls}, {"ms", k.ms}, {"share", k.share}, {"gflops", k.gflops}});
  }
  console.table(rows);
  return json;
}

/// None where none is requested.
Result<std::optional<files::AtomicFile>> file_for(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return TRY(files::AtomicFile::create(path));
}

Json json_of(const Bench& b, const Figures& f, double weight_bytes, bool cold) {
  return {{"shapes", json_of_shapes(b)},
          {"median_ms", f.median_ms},
          {"p5_ms", quantile(f.times, 0.05)},
          {"p50_ms", f.median_ms},
          {"p95_ms", quantile(f.times, 0.95)},
          {"p99_ms", quantile(f.times, 0.99)},
          {"gflops", f.gflops},
          {"peak_share", f.peak_share},
          {"peak_disturbed", f.peak_share > 1},
          {"products", json_of_products(f)},
          {"load_ms", b.load_ms},
          {"first_ms", b.first_ms},
          {"peak_rss_bytes", b.rss},
          {"regime", cold ? "cold" : "hot"},
          {"weight_bytes_read", std::llround(weight_bytes)},
          {"memory_gbps", f.memory},
          {"memory_share", f.weight_gbps / f.memory},
          {"roofline_share", f.roofline_share},
          {"samples_kept", f.quiet.samples.size()},
          {"samples_tried", f.quiet.tried}};
}

/// Files that are requested, opened before minutes of measuring that they could not keep.
struct Pictures {
  std::optional<files::AtomicFile> trace, html;

  Result<void> draw(Bench& b, const Figures& f, const Profile& profile, const std::vector<double>& flops) {
    if (trace) {
      TRY(trace->append(chrome_trace(b.engine->program_for(b.inputs), profile, flops)));
      TRY(trace->commit());
    }
    if (html) {
      b.views.page->set_facts(fmt::format("{:.4g} ms at {}, {} threads", f.median_ms, shapes_text(b), b.options.threads));
      b.views.page->set_times(step_times(b.engine->program(), profile));
      TRY(html->append(b.views.page->html()));
      TRY(html->commit());
    }
    return {};
  }
};

Result<Json> explained(const Bench& b, const Profile& profile, Console& console) {
  const MachineHere here = TRY(machine_here(b.options.threads));
  return report_explanation(TRY(b.views.explanation->kernels(*b.engine, b.inputs, profile, here.machine)), here, console);
}

/// One of several engines that another process measures by turns.
Result<void> serve_model(const Options& o, Console& console) {
  Bench b = TRY(prepare(o, console));
  const auto flops = flops_of_steps(b.engine->program_for(b.inputs), b.context->sizes());
  const ByProducts work = flops_by_products(b.engine->program_for(b.inputs), flops);
  const double weight_bytes = weight_bytes_read(b.engine->program_for(b.inputs), b.context->sizes(), flops);
  std::optional<Limits> made;  // not before it is requested: until then the process holds what a run needs
  const auto limits = [&]() -> const Limits& { return made ? *made : made.emplace(b.options.threads, work); };
  const auto append = [](const ByProducts& each, double last) {
    std::vector<double> out(each.begin(), each.end());
    out.push_back(last);
    return out;
  };
  return serve({.ready = fmt::format("{:.6f} {:.6f} {}", b.load_ms, b.first_ms, kProducer),
                .work = append(work, weight_bytes),
                .run = [&](int count, bool cold) { return b.runs(count, cold ? &limits().memory : nullptr); },
                .outputs = [&] { return b.context->run(b.inputs, b.options); },
                .limits = [&] { return append(limits().peaks.measure(), limits().memory.read()); }},
               std::cin, std::cout);
}

Result<void> bench_model(const Options& o, Console& console) {
  if (o.serve) return serve_model(o, console);
  Pictures pictures{TRY(file_for(o.trace)), TRY(file_for(o.html))};
  Bench b = TRY(prepare(o, console));
  const auto flops = flops_of_steps(b.engine->program_for(b.inputs), b.context->sizes());
  const ByProducts work = flops_by_products(b.engine->program_for(b.inputs), flops);
  const Limits limits(b.options.threads, work);
  const auto samples = TRY(take_samples(o, b, limits, console));
  const double weight_bytes = weight_bytes_read(b.engine->program_for(b.inputs), b.context->sizes(), flops);
  const Figures f = figures_of(samples, work, weight_bytes, console);
  console.progress("profile");
  const uint32_t runs = static_cast<uint32_t>(std::clamp(3000 / f.median_ms, 2.0, static_cast<double>(kProfiledRuns)));
  const Profile profile = TRY(tenon::cli::profile(*b.context, b.inputs, b.options, runs));
  TRY(pictures.draw(b, f, profile, flops));
  report_own(b, f, console);
  Json json = json_of(b, f, weight_bytes, o.cold);
  json["kernels"] = report_kernels(kernel_times(b.engine->program_for(b.inputs), profile, flops), console);
  if (b.views.explanation) json["explained"] = TRY(explained(b, profile, console));
  json["vs"] = b.peer ? TRY(report_peer(b, f, console)) : Json(nullptr);
  console.object(json);
  return {};
}

}  // namespace

VERB(bench) {
    .summary = "measure a model or an engine, alone or against another engine",
    .examples =
        "  tenon bench model.onnx\n"
        "  tenon bench model.tenon --threads 1 --trace trace.json     (open it in chrome://tracing or ui.perfetto.dev)\n"
        "  tenon bench model.onnx --shape ids=1x128 --vs onnxruntime\n"
        "  tenon bench model.onnx --html graph.html                   (the time of each kernel, in a picture of the graph)\n"
        "  tenon bench model.tenon --explain                          (why each kernel takes its time; first: tenon calibrate)\n"
        "  tenon bench model.onnx --vs openvino --cold                (caches evicted before each run, for both)\n"
        "  tenon bench model.onnx --input batch.npz --runs 60 --seconds 120 --json\n"
        "\nA sample is 20 ms of runs back to back, between two measurements of the FMA peak; samples during which the machine was\n"
        "disturbed are dropped and taken again, three times as many as wanted at most. With --vs a sample is a pair, taken in turns;\n"
        "the other engine computes in fp32 on as many threads, and is made for the inputs' shapes alone where --shape is given.\n"
        "torch is PyTorch on the model as onnx2pytorch converts it, under torch.compile where that works; what it needs is in\n"
        "tools/requirements-torch.txt. The share of memory's rate counts each weight as read once a run: above 100 % weights stay\n"
        "in the caches. The share of the peak counts products of bf16 and int8 at the peaks of their own instructions; above 100 % the\n"
        "machine was busy while the peak was measured. p50, p95 and p99 are over all runs of the samples that were kept.\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app);
      o->engine.model.plugins.add_embedded_to(app, o->engine.model.path);
      o->engine.add_guard_to(app);
      o->inputs.add_to(app);
      app.add_option("--vs", o->peer, "measure the other engine in its own process, in turns")
          ->check(CLI::IsMember({"onnxruntime", "openvino", "torch"}));
      app.add_flag("--cold", o->cold, "evict the caches before each run, as a process that does other work between runs");
      app.add_flag("--explain", o->explain, "the time of each kernel beside what sizes, tactic and machine predict, and what limits it");
      app.add_flag("--serve", o->serve, "answer commands on stdin, as tools/bench/peer_bench.py does: ./dev bench measures so");
      app.add_option("--trace", o->trace, "write a chrome trace of some runs")->type_name("OUT");
      app.add_option("--html", o->html,
                     "write the graph before and after as a page to look around in, with the time of each kernel; of an engine, after")
          ->type_name("OUT");
      app.add_option("--runs", o->runs, "samples to keep")->check(between(1, 100000))->capture_default_str();
      app.add_option("--seconds", o->seconds, "take no new samples after that long")->check(more_than_zero())->capture_default_str();
      group_options(app, kDebugOptions, {"--serve"});
      return [o](Console& console) { return bench_model(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_bench
