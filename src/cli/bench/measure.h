// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::cli {

/// The q-quantile of the samples (q from 0 to 1), interpolated linearly (type 7 of Hyndman and Fan, 1996).
/// samples: not empty, any order.
double quantile(std::span<const double> samples, double q);
inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// A confidence interval.
struct Interval {
  double low = 0, high = 0;
};
/// Percentile bootstrap interval of the median (Efron, 1979): 4,000 resamples; equal seeds give equal intervals.
/// samples: not empty. Cost: O(4000 n).
Interval median_interval(std::span<const double> samples, double level = 0.95, uint64_t seed = 1);

/// A kind of multiplication, by its operands: f32; pairs of bf16 (summed in f32); groups of four bytes (summed in i32).
enum class ProductKind : uint8_t { f32, bf16, bytes };
inline constexpr size_t kProductKinds = 3;
/// "f32", "bf16", "int8".
std::string_view name_of(ProductKind products);
/// A number for each kind of products, in the order of ProductKind.
using ByProductKind = std::array<double, kProductKinds>;

/// Measures the peak rate of fused multiply-adds on registers, in the widest vectors of this CPU, on the threads that kernels run on.
/// Products of bf16 and bytes need AVX512_BF16 and AVX512_VNNI. The peak is measured again with each sample, since other load and clock
/// rates change it.
class FmaPeak {
 public:
  explicit FmaPeak(int threads, ProductKind products = ProductKind::f32);
  /// GFLOP/s.
  double measure(double milliseconds = 3) const;

 private:
  int threads_;
  ProductKind products_;
  double seconds_per_round_;
};

/// Measures the peak rate of f32 products, and those of the other kinds that a run has.
class Peaks {
 public:
  Peaks(int threads, const ByProductKind& flops);
  /// GFLOP/s; 0 for products that the run has none of.
  ByProductKind measure() const;

 private:
  std::array<std::optional<FmaPeak>, kProductKinds> peaks_;
};

/// The least time for the operations in milliseconds, where each kind runs at its peak (GFLOP/s), one after the other.
double least_ms(const ByProductKind& flops, const ByProductKind& peaks);

/// Times of some runs, and peak rates measured before, between and after them.
struct Sample {
  std::vector<double> ours_ms, other_ms;  ///< one time per run; other_ms: of the peer; empty where there is none
  std::vector<double> peaks;              ///< of f32; is_quiet() uses them
  std::vector<double> dram;               ///< memory bandwidth before the runs, GB/s
  std::vector<ByProductKind> all_peaks;   ///< of all kinds
};
/// Whether other load on the machine was low: the peaks differ by at most 5 % and none is below 80 % of the best one seen.
bool is_quiet(const Sample& sample, double best_peak);

/// The samples that statistics use: quiet ones; all of them where fewer than `enough` are quiet.
struct QuietSamples {
  std::vector<const Sample*> samples;
  size_t count = 0;  ///< number of quiet samples
  size_t tried = 0;  ///< number of all samples
};
QuietSamples quiet_samples(std::span<const Sample> samples, size_t enough);

}  // namespace tenon::cli
