// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/figures_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

#include "cli/console/console.h"

namespace tenon::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLabelWidth = 72;

std::string kept_text(const QuietSamples& k) { return fmt::format("{} of {} samples quiet", k.samples.size(), k.tried); }

/// Largest absolute difference over floating results; what is not a float must be equal (infinity where it is not).
Result<double> largest_difference(BenchSession& b) {
  const auto others = TRY(b.peer->outputs());
  const auto ours = TRY(b.run());
  double largest = 0;
  for (size_t k = 0; k < ours.size(); ++k) {
    if (k >= others.size() || ours[k].shape() != others[k].shape() || ours[k].dtype() != others[k].dtype())
      return fail(Code::device_failed, fmt::format("output '{}'", b.engine->outputs(b.entry)[k].name),
                  "the engines' results have different types")
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

Json json_of_peer(const Peer& p, const BenchFigures& f, double difference) {
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

/// "f32 500, int8 2000"; of f32 alone the number.
std::string peaks_text(const BenchFigures& f) {
  std::string out = fmt::format("{:.4g}", f.peaks[0]);
  for (size_t p = 1; p < kProductKinds; ++p)
    if (f.flops[p] > 0) out += fmt::format(", {} {:.4g}", name_of(static_cast<ProductKind>(p)), f.peaks[p]);
  return out.contains(',') ? "f32 " + out : out;
}

/// Rates by name of the kind of product, for kinds that the run has.
Json json_of_products(const BenchFigures& f) {
  Json out = Json::object();
  for (size_t p = 0; p < kProductKinds; ++p)
    if (f.flops[p] > 0) out[name_of(static_cast<ProductKind>(p))] = {{"gflop", f.flops[p] / 1e9}, {"peak_gflops", f.peaks[p]}};
  return out;
}

Json json_of_shapes(const BenchSession& b) {
  Json out = Json::object();
  for (size_t k = 0; k < b.inputs.size(); ++k) out[b.engine->inputs(b.entry)[k].name] = b.inputs[k].shape();
  return out;
}

}  // namespace

Result<Json> report_peer(BenchSession& b, const BenchFigures& f, Console& console) {
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

std::string shapes_text(const BenchSession& b) {
  std::string out;
  for (size_t k = 0; k < b.inputs.size(); ++k)
    out += fmt::format("{}{}[{}]", k ? ", " : "", b.engine->inputs(b.entry)[k].name, fmt::join(b.inputs[k].shape(), ","));
  return out;
}

void report_own(const BenchSession& b, const BenchFigures& f, Console& console) {
  console.line(fmt::format("at {}", shapes_text(b)));
  console.line(fmt::format("p50 {:.4g} ms, p95 {:.4g}, p99 {:.4g}; {:.4g} runs a second; {} threads; {}", f.median_ms,
                           quantile(f.times, 0.95), quantile(f.times, 0.99), 1e3 / f.median_ms, b.options.threads, kept_text(f.quiet)));
  console.line(fmt::format("{:.4g} GFLOP/s, {:.1f} % of the peak measured with it ({})", f.gflops, 100 * f.peak_share, peaks_text(f)));
  if (f.peak_share > 1)
    console.line("a share of the peak above 100 % means that the machine was busy while the peak was measured: run again when it is quiet");
  console.line(fmt::format("{:.4g} GB/s of weights, {:.1f} % of the memory bandwidth measured with it ({:.4g})", f.weight_gbps,
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

Json json_of(const BenchSession& b, const BenchFigures& f, double weight_bytes, bool cold) {
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

}  // namespace tenon::cli
