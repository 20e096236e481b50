// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/measure/build_on.h"
#include "compiler/measure/timer.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr int kFew = 2, kMany = 9;
constexpr double kTinyBytes = 16 * 4;
constexpr int64_t kSizes[] = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};  ///< elements of four bytes

constexpr std::string_view kStart = "graph main(x: f32[16]) { y = Relu(x) return y }";

/// The sum of so many operands.
std::string sum_text(int count) {
  std::string inputs, operands;
  for (int k = 0; k < count; ++k) {
    inputs += fmt::format("{}x{}: f32[16]", k ? ", " : "", k);
    operands += fmt::format("{}x{}", k ? ", " : "", k);
  }
  return fmt::format("graph main({}) {{ y = Sum({}) return y }}", inputs, operands);
}

/// One number of so many.
std::string pick_text(int64_t size) {
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

class Calibrating {
 public:
  Calibrating(const backend::Backends& backends, size_t b, const ir::OpTable& ops, const CompileOptions& options)
      : backends_(backends), b_(b), ops_(ops), options_(options), timer_(options, backends) {
    kernels_ = static_cast<size_t>(std::ranges::find(backends, &backend::host_of(backends)) - backends.begin());
  }

  Result<backend::Overheads> run() {
    backend::Overheads out = backends_[b_]->overheads();
    out.copy = out.copy_per_byte = 0;
    const double start = TRY(times_over_kernels({{std::string(kStart)}}))[0];
    if (out.own_memory) TRY(find_copies(out));
    const double copies = out.own_memory ? 2 * (out.copy + kTinyBytes * out.copy_per_byte) : 0;  // an operand and a result
    out.launch = std::max(0.0, start - copies);
    out.source = backend::Overheads::Source::calibrated;
    return out;
  }

 private:
  static constexpr int kPasses = 3;  ///< over all engines: the least time counts

  Result<void> find_copies(backend::Overheads& out) {
    std::vector<std::string> texts = {sum_text(kFew), sum_text(kMany)};
    for (int64_t size : kSizes) texts.push_back(pick_text(size));
    const std::vector<double> ns = TRY(times_over_kernels(texts));
    std::vector<std::pair<double, double>> points;
    for (size_t k = 0; k < std::size(kSizes); ++k) points.emplace_back(4.0 * static_cast<double>(kSizes[k]), ns[2 + k]);
    out.copy_per_byte = slope_of(points);
    out.copy = std::max(0.0, (ns[1] - ns[0]) / (kMany - kFew) - kTinyBytes * out.copy_per_byte);
    return {};
  }

  /// How much longer each takes on the backend than in kernels.
  Result<std::vector<double>> times_over_kernels(std::span<const std::string> texts) {
    std::vector<Timer::Item> items;
    for (const std::string& text : texts) {
      const std::shared_ptr<const ir::Graph> graph = TRY(ir::parse(text, ops_));
      for (ir::NodeId n : graph->nodes()) TRY(backends_[b_]->supports(*graph, n));
      for (size_t on : {b_, kernels_}) items.push_back({fmt::format("{} {}", on, text), [this, on, graph] { return built(*graph, on); }});
    }
    const auto times = TRY(timer_.time(items, kPasses));
    std::vector<double> out;
    for (size_t k = 0; k < items.size(); k += 2) {
      if (!times[k] || !times[k + 1])
        return fail(Code::not_supported, fmt::format("backend '{}'", backends_[b_]->name()), "what is to be timed does not run")
            .found(texts[k / 2]);
      out.push_back(*times[k] - *times[k + 1]);
    }
    return out;
  }

  /// Where it is to be on the backend, it is.
  Result<Compiled> built(const ir::Graph& graph, size_t on) const {
    auto out = TRY(build_on(graph.clone(), backends_, on, options_));
    if (on != kernels_ && out.built.programs[0].blobs.empty()) return fail(Code::not_supported, "", "it runs in kernels");
    return out;
  }

  const backend::Backends& backends_;
  size_t b_, kernels_ = 0;
  const ir::OpTable& ops_;
  const CompileOptions& options_;
  Timer timer_;
};

}  // namespace

Result<backend::Overheads> calibrate(const backend::Backends& backends, size_t b, const ir::OpTable& ops, const CompileOptions& options) {
  return Calibrating(backends, b, ops, options).run();
}

}  // namespace tenon::compiler
