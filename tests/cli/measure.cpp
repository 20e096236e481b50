// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/measure.h"

#include <gtest/gtest.h>

#include <random>

#include "cli/bench/memory_stream.h"

namespace tenon::cli {
namespace {

TEST(Quantile, LiesBetweenNeighbours) {
  const std::vector<double> samples{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 40);
  EXPECT_DOUBLE_EQ(median(samples), 25);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.05), 11.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.95), 38.5);
}

TEST(Quantile, OfOneSampleIsThatSample) {
  for (const double q : {0.0, 0.05, 0.5, 1.0}) EXPECT_DOUBLE_EQ(quantile(std::vector{7.0}, q), 7);
}

TEST(MedianInterval, CollapsesWhereAllSamplesAreEqual) {
  const Interval i = median_interval(std::vector<double>(30, 1.25));
  EXPECT_DOUBLE_EQ(i.low, 1.25);
  EXPECT_DOUBLE_EQ(i.high, 1.25);
}

TEST(MedianInterval, IsTheSameForOneSeed) {
  const std::vector<double> samples{1, 5, 2, 8, 3, 9, 4};
  const Interval a = median_interval(samples, 0.95, 3), b = median_interval(samples, 0.95, 3);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_LT(a.low, a.high);
}

TEST(MedianInterval, NarrowsWithTheLevel) {
  std::vector<double> samples;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(1, 0.1);
  for (int k = 0; k < 40; ++k) samples.push_back(normal(random));
  const Interval wide = median_interval(samples, 0.95), narrow = median_interval(samples, 0.5);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

// The true median lies outside in one case of twenty; in 200 cases it does so 10 times, and more than 25 times once in ten thousand.
TEST(MedianInterval, CoversTheTrueMedian) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> ratio(0, 0.1);
  int outside = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<double> samples;
    for (int k = 0; k < 30; ++k) samples.push_back(ratio(random));
    const Interval i = median_interval(samples, 0.95, static_cast<uint64_t>(round));
    outside += i.low > 1 || i.high < 1;
  }
  EXPECT_LE(outside, 25);
  EXPECT_GE(outside, 1);
}

Sample with_peaks(std::vector<double> peaks) { return {{1}, {}, std::move(peaks), {}, {}}; }

TEST(IsQuiet, RequiresPeaksThatAgreeAndAreHigh) {
  EXPECT_TRUE(is_quiet(with_peaks({100, 96, 98}), 100));
  EXPECT_FALSE(is_quiet(with_peaks({100, 94}), 100));
  EXPECT_FALSE(is_quiet(with_peaks({79, 79}), 100));
  EXPECT_TRUE(is_quiet(with_peaks({81, 81}), 100));
}

TEST(KeepQuiet, DropsWhatWasDisturbed) {
  const std::vector<Sample> samples{with_peaks({100, 100}), with_peaks({100, 60}), with_peaks({50, 50}), with_peaks({97, 98})};
  const QuietSamples quiet = quiet_samples(samples, 2);
  EXPECT_EQ(quiet.tried, 4u);
  EXPECT_EQ(quiet.count, 2u);
  ASSERT_EQ(quiet.samples.size(), 2u);
  EXPECT_EQ(quiet.samples[1], &samples[3]);
}

TEST(KeepQuiet, TakesAllWhereTooFewAreLeft) {
  const std::vector<Sample> samples{with_peaks({100, 60}), with_peaks({100, 100}), with_peaks({100, 70})};
  const QuietSamples quiet = quiet_samples(samples, 2);
  EXPECT_EQ(quiet.count, 1u);
  EXPECT_EQ(quiet.samples.size(), 3u);
}

TEST(FmaPeak, IsAPlausibleRate) {
  const double peak = FmaPeak(1).measure(1);
  EXPECT_GT(peak, 0.5);
  EXPECT_LT(peak, 2000);
}

TEST(MemoryStream, IsAPlausibleRate) {
  const MemoryStream memory(1);
  EXPECT_GT(memory.read(), 0.1);
  EXPECT_LT(memory.read(), 2000);
}

}  // namespace
}  // namespace tenon::cli
