// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

namespace tenon::compiler {

/// What a candidate takes at most of the time of what stands, or it may be noise.
inline constexpr double kGain = 0.95;

/// Whether a candidate is to take the place of what stands, by what a run of each takes; none: it does not run.
inline bool is_faster(std::optional<double> candidate, std::optional<double> stands) {
  return candidate && (!stands || *candidate < kGain * *stands);
}

/// The place of the fastest, where it is faster than what stands, at place 0; else 0.
inline size_t fastest(std::span<const std::optional<double>> times) {
  size_t least = 0;
  for (size_t k = 1; k < times.size(); ++k)
    if (times[k] && (!times[least] || *times[k] < *times[least])) least = k;
  return !times.empty() && is_faster(times[least], times[0]) ? least : 0;
}

}  // namespace tenon::compiler
