// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

namespace tenon::compiler {

/// A candidate is faster where its time is below this ratio of the current choice's time; above it the difference may be noise.
inline constexpr double kMaxTimeRatio = 0.95;

/// Whether a candidate replaces the current choice, by the time of a run of each; nullopt: it does not run.
inline bool is_faster(std::optional<double> candidate, std::optional<double> current) {
  return candidate && (!current || *candidate < kMaxTimeRatio * *current);
}

/// The index of the fastest time, where it is faster than the current choice at index 0; else 0.
inline size_t index_of_fastest(std::span<const std::optional<double>> times) {
  size_t least = 0;
  for (size_t k = 1; k < times.size(); ++k)
    if (times[k] && (!times[least] || *times[k] < *times[least])) least = k;
  return !times.empty() && is_faster(times[least], times[0]) ? least : 0;
}

}  // namespace tenon::compiler
