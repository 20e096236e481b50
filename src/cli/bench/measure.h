// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::cli {

/// The value below which a share `q` of the samples lies, linear between neighbours (type 7 of Hyndman and Fan, 1996).
/// samples: not empty, any order.
double quantile(std::span<const double> samples, double q);
inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

struct Interval {
  double low = 0, high = 0;
};
/// Percentile bootstrap interval of the median (Efron, 1979): 4,000 resamples; one seed, one interval.
/// samples: not empty. Cost: O(4000 n).
Interval median_interval(std::span<const double> samples, double level = 0.95, uint64_t seed = 1);

/// What is multiplied: f32, pairs of bf16 into f32, fours of bytes into i32.
enum class Products : uint8_t { f32, bf16, bytes };
inline constexpr size_t kProducts = 3;
/// "f32", "bf16", "int8".
std::string_view name_of(Products products);
/// A figure of each kind of products, in the order of Products.
using ByProducts = std::array<double, kProducts>;

/// GFLOP/s of multiply-adds on registers alone, in the widest vectors of this CPU, on the threads that kernels run on: what a share of the
/// peak is a share of. Products of short types need a CPU that has them (AVX512_BF16, AVX512_VNNI). Machines are shared and their clocks
/// drift, so it is measured with each sample.
class FmaPeak {
 public:
  explicit FmaPeak(int threads, Products products = Products::f32);
  double measure(double milliseconds = 3) const;

 private:
  int threads_;
  Products products_;
  double seconds_per_round_;
};

/// The peak of f32, and those of the other products that a run has operations of.
class Peaks {
 public:
  Peaks(int threads, const ByProducts& flops);
  /// GFLOP/s; 0 for products that the run has none of.
  ByProducts measure() const;

 private:
  std::array<std::optional<FmaPeak>, kProducts> peaks_;
};

/// Milliseconds that operations take at least: those of each kind at its own peak (GFLOP/s), one kind after the other.
double least_ms(const ByProducts& flops, const ByProducts& peaks);

/// A sample of timed runs and the peaks taken around it (before, between, after).
struct Sample {
  std::vector<double> ours_ms, other_ms;  ///< one a run; other_ms is empty where nothing else is measured
  std::vector<double> peaks;              ///< those that say whether it was quiet
  std::vector<double> dram;               ///< GB/s that memory gave before it
  std::vector<ByProducts> all_peaks;      ///< with those of short products; empty where no node reads them
};
/// Whether the machine was left alone: the peaks differ by at most 5 % and none is below 80 % of the best one seen.
bool is_quiet(const Sample& sample, double best_peak);

/// The samples that count: the quiet ones; all of them where fewer than `enough` are quiet.
struct QuietSamples {
  std::vector<const Sample*> samples;
  size_t count = 0, tried = 0;
};
QuietSamples quiet_samples(std::span<const Sample> samples, size_t enough);

}  // namespace tenon::cli
