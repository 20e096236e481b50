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

/// Kinds of products: of f32; of pairs of bf16, summed in f32; of four bytes, summed in i32.
enum class Products : uint8_t { f32, bf16, bytes };
inline constexpr size_t kProducts = 3;
/// "f32", "bf16", "int8".
std::string_view name_of(Products products);
/// A number for each kind of products, in the order of Products.
using ByProducts = std::array<double, kProducts>;

/// Measures the peak rate of fused multiply-adds on registers, in the widest vectors of this CPU, on the threads that kernels run on.
/// Products of bf16 and bytes need AVX512_BF16 and AVX512_VNNI. The peak is measured again with each sample, since other load and clock
/// rates change it.
class FmaPeak {
 public:
  explicit FmaPeak(int threads, Products products = Products::f32);
  /// GFLOP/s.
  double measure(double milliseconds = 3) const;

 private:
  int threads_;
  Products products_;
  double seconds_per_round_;
};

/// Measures the peak rate of f32 products, and those of the other kinds that a run has.
class Peaks {
 public:
  Peaks(int threads, const ByProducts& flops);
  /// GFLOP/s; 0 for products that the run has none of.
  ByProducts measure() const;

 private:
  std::array<std::optional<FmaPeak>, kProducts> peaks_;
};

/// The least time for the operations in milliseconds, where each kind runs at its peak (GFLOP/s), one after the other.
double least_ms(const ByProducts& flops, const ByProducts& peaks);

/// Times of some runs, and peak rates measured before, between and after them.
struct Sample {
  std::vector<double> ours_ms, other_ms;  ///< one time per run; other_ms: of the peer; empty where there is none
  std::vector<double> peaks;              ///< of f32; is_quiet() uses them
  std::vector<double> dram;               ///< memory bandwidth before the runs, GB/s
  std::vector<ByProducts> all_peaks;      ///< of all kinds
};
/// Whether other load on the machine was low: the peaks differ by at most 5 % and none is below 80 % of the best one seen.
bool is_quiet(const Sample& sample, double best_peak);

/// The samples that statistics use: the quiet ones; all of them where fewer than `enough` are quiet.
struct QuietSamples {
  std::vector<const Sample*> samples;
  size_t count = 0, tried = 0;
};
QuietSamples quiet_samples(std::span<const Sample> samples, size_t enough);

}  // namespace tenon::cli
