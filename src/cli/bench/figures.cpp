// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/bench/session.h"
#include "cli/console/console.h"

namespace tenon::cli {

namespace {

/// For each kind of product, the median of the peak rates that were measured in these samples.
ByProductKind peaks_of(const QuietSamples& quiet) {
  ByProductKind out{};
  for (size_t p = 0; p < kProductKinds; ++p) {
    std::vector<double> measured;
    for (const Sample* s : quiet.samples)
      for (const ByProductKind& peaks : s->all_peaks) measured.push_back(peaks[p]);
    out[p] = median(measured);
  }
  return out;
}

}  // namespace

BenchFigures figures_of(std::span<const Sample> samples, const ByProductKind& flops, double weight_bytes, Console& console) {
  BenchFigures f;
  f.flops = flops;
  f.quiet = quiet_samples(samples, std::min(kEnoughSamples, samples.size()));
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

}  // namespace tenon::cli
