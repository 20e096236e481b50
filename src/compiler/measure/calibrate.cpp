// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/measure/build_on_backend.h"
#include "compiler/measure/engine_timer.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr int kFewOperands = 2, kManyOperands = 9;
constexpr double kTinyBytes = 16 * 4;                                                    ///< of one operand of kLaunchText and sum_text()
constexpr int64_t kElementCounts[] = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};  ///< of f32 operands

constexpr std::string_view kLaunchText = "graph main(x: f32[16]) { y = Relu(x) return y }";

/// A graph that adds `count` operands.
std::string sum_text(int count) {
  std::string inputs, operands;
  for (int k = 0; k < count; ++k) {
    inputs += fmt::format("{}x{}: f32[16]", k ? ", " : "", k);
    operands += fmt::format("{}x{}", k ? ", " : "", k);
  }
  return fmt::format("graph main({}) {{ y = Sum({}) return y }}", inputs, operands);
}

/// A graph that gathers one number from an operand of `size` elements.
std::string gather_text(int64_t size) {
  return fmt::format("graph main(x: f32[{}]) {{ const k: i64[1] = [3] y = Gather(x, k) return y }}", size);
}

/// The slope of y over x by least squares; 0 where it falls.
double slope_of(std::span<const std::pair<double, double>> points) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const auto n = static_cast<double>(points.size());
  for (const auto& [px, py] : points) x += px / n, y += py / n;
  for (const auto& [px, py] : points) xx += (px - x) * (px - x), xy += (px - x) * (py - y);
  return std::max(0.0, xy / xx);
}

class Calibrator {
 public:
  Calibrator(const backend::Backends& backends, size_t backend_index, const ir::OpTable& ops, const CompileOptions& options)
      : backends_(backends), backend_index_(backend_index), ops_(ops), options_(options), timer_(options, backends) {
    host_index_ = static_cast<size_t>(std::ranges::find(backends, &backend::host_of(backends)) - backends.begin());
  }

  Result<backend::Overheads> run() {
    backend::Overheads out = backends_[backend_index_]->overheads();
    out.copy_ns = out.copy_ns_per_byte = 0;
    const double launch_and_copies_ns = TRY(ns_above_host({{std::string(kLaunchText)}}))[0];
    if (out.own_memory) TRY(measure_copies(out));
    const double copies_ns = out.own_memory ? 2 * (out.copy_ns + kTinyBytes * out.copy_ns_per_byte) : 0;  // an operand and a result
    out.launch_ns = std::max(0.0, launch_and_copies_ns - copies_ns);
    out.source = backend::Overheads::Source::calibrated;
    return out;
  }

 private:
  static constexpr int kPasses = 3;  ///< runs over all engines; the minimum time of each is used

  Result<void> measure_copies(backend::Overheads& out) {
    std::vector<std::string> texts = {sum_text(kFewOperands), sum_text(kManyOperands)};
    for (int64_t size : kElementCounts) texts.push_back(gather_text(size));
    const std::vector<double> ns = TRY(ns_above_host(texts));
    std::vector<std::pair<double, double>> points;
    for (size_t k = 0; k < std::size(kElementCounts); ++k) points.emplace_back(4.0 * static_cast<double>(kElementCounts[k]), ns[2 + k]);
    out.copy_ns_per_byte = slope_of(points);
    out.copy_ns = std::max(0.0, (ns[1] - ns[0]) / (kManyOperands - kFewOperands) - kTinyBytes * out.copy_ns_per_byte);
    return {};
  }

  /// The time of each graph on the backend, less its time on the host backend.
  Result<std::vector<double>> ns_above_host(std::span<const std::string> texts) {
    std::vector<EngineTimer::Item> items;
    for (const std::string& text : texts) {
      const std::shared_ptr<const ir::Graph> graph = TRY(ir::parse(text, ops_));
      for (ir::NodeId n : graph->nodes()) TRY(backends_[backend_index_]->supports(*graph, n));
      for (size_t on : {backend_index_, host_index_})
        items.push_back({fmt::format("{} {}", on, text), [this, on, graph] { return built(*graph, on); }});
    }
    const auto times = TRY(timer_.time(items, kPasses));
    std::vector<double> out;
    for (size_t k = 0; k < items.size(); k += 2) {
      if (!times[k] || !times[k + 1])
        return fail(Code::not_supported, fmt::format("backend '{}'", backends_[backend_index_]->name()),
                    "a graph of the calibration does not run")
            .found(texts[k / 2]);
      out.push_back(*times[k] - *times[k + 1]);
    }
    return out;
  }

  /// An engine of the graph on backend `on`. Errors: not_supported where the node is placed on the host instead of that backend.
  Result<Compiled> built(const ir::Graph& graph, size_t on) const {
    auto out = TRY(build_on_backend(graph.clone(), backends_, on, options_));
    if (on != host_index_ && out.built.programs[0].blobs.empty()) return fail(Code::not_supported, "", "it runs on the host backend");
    return out;
  }

  const backend::Backends& backends_;
  size_t backend_index_, host_index_ = 0;
  const ir::OpTable& ops_;
  const CompileOptions& options_;
  EngineTimer timer_;
};

}  // namespace

Result<backend::Overheads> calibrate(const backend::Backends& backends, size_t backend_index, const ir::OpTable& ops,
                                     const CompileOptions& options) {
  return Calibrator(backends, backend_index, ops, options).run();
}

}  // namespace tenon::compiler
