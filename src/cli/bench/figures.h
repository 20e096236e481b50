// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "cli/bench/measure.h"

namespace tenon::cli {

class Console;

/// What the samples of `tenon bench` say.
struct BenchFigures {
  std::vector<double> times, other_times, ratios, dram;
  QuietSamples quiet;
  double median_ms = 0, gflops = 0;
  ByProducts flops{}, peaks{};         ///< of a run; GFLOP/s
  double peak_share = 0;               ///< of the time that the flops take at the peaks of their kinds
  double weight_gbps = 0, memory = 0;  ///< GB/s: weights read once a run, and the memory bandwidth measured with it
  double roofline_share = 0;           ///< of the time that the flops at the peaks, or the weights at memory's rate, take at least
};

/// flops: of a run, by products; weight_bytes: read in a run. Warns where the machine was too busy to choose among the samples.
BenchFigures figures_of(std::span<const Sample> samples, const ByProducts& flops, double weight_bytes, Console& console);

}  // namespace tenon::cli
