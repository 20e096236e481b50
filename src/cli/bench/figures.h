// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "cli/bench/measure.h"

namespace tenon::cli {

class Console;

/// Statistics of the samples of `tenon bench`.
struct BenchFigures {
  std::vector<double> times, other_times;  ///< of all runs in quiet samples, in ms; other_times: of the peer
  std::vector<double> ratios;              ///< of the peer's times to Tenon's, sample by sample
  std::vector<double> dram;                ///< memory bandwidths of quiet samples, GB/s
  QuietSamples quiet;
  double median_ms = 0, gflops = 0;    ///< median time of a run, and its rate
  ByProductKind flops{}, peaks{};      ///< flops: of a run; peaks: GFLOP/s
  double peak_share = 0;               ///< time of the flops at the peak rates of their kinds, divided by the measured time
  double weight_gbps = 0, memory = 0;  ///< GB/s: bytes of weights divided by the time of a run; measured memory bandwidth
  double roofline_share = 0;  ///< time that flops at peak rates or reading weights at memory bandwidth takes, whichever is longer, divided
                              ///< by the measured time
};

/// flops: of a run, by kind of product; weight_bytes: read in a run. Warns where too few samples are quiet (is_quiet).
BenchFigures figures_of(std::span<const Sample> samples, const ByProductKind& flops, double weight_bytes, Console& console);

}  // namespace tenon::cli
