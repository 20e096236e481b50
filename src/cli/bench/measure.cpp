// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/result.h"
#include "base/threads/thread_pool.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Two pipes of latency 4 need 8 chains in flight; 12 leave room and fit 16 registers. Pairs of bf16 take 6 cycles, and have 32 registers.
constexpr int kChains = 12, kChainsOfPairs = 20, kUnroll = 8;
constexpr int64_t kRoundsPerTask = 20000;

/// The chains are written out: in a loop over them they would be in memory, which takes a sixth of the peak.
template <class V, size_t... kChain>
[[gnu::always_inline]] inline float fma_rounds(int64_t rounds, float seed, std::index_sequence<kChain...>) {
  const V factor = V{} + (1.0f - seed), term = V{} + seed;
  V chain[] = {term * static_cast<float>(kChain)...};
  for (int64_t r = 0; r < rounds * kUnroll; ++r) ((chain[kChain] = chain[kChain] * factor + term), ...);
  V sum = V{};
  ((sum += chain[kChain]), ...);
  return sum[0];
}

template <int kBytes>
struct Vector {
  typedef float Type __attribute__((vector_size(kBytes)));
};

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float rounds_512(int64_t rounds, float seed) {
  return fma_rounds<Vector<64>::Type>(rounds, seed, std::make_index_sequence<kChains>());
}
[[gnu::target("avx2,fma"), gnu::noinline]] float rounds_256(int64_t rounds, float seed) {
  return fma_rounds<Vector<32>::Type>(rounds, seed, std::make_index_sequence<kChains>());
}
#endif
[[gnu::noinline]] float rounds_128(int64_t rounds, float seed) {
  return fma_rounds<Vector<16>::Type>(rounds, seed, std::make_index_sequence<kChains>());
}

#if defined(__x86_64__)
/// The bits of the operands do not matter to speed, as long as no sum is denormal.
template <size_t... kChain>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16"), gnu::noinline]] float pair_rounds(int64_t rounds, float seed,
                                                                                         std::index_sequence<kChain...>) {
  const __m512 factor = _mm512_set1_ps(1.0f - seed);
  const auto pairs = (__m512bh)factor;
  __m512 chain[] = {factor * static_cast<float>(kChain)...};
  for (int64_t r = 0; r < rounds * kUnroll; ++r) ((chain[kChain] = _mm512_dpbf16_ps(chain[kChain], pairs, pairs)), ...);
  __m512 sum = factor;
  ((sum += chain[kChain]), ...);
  return sum[0];
}
float rounds_of_pairs(int64_t rounds, float seed) { return pair_rounds(rounds, seed, std::make_index_sequence<kChainsOfPairs>()); }

template <size_t... kChain>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::noinline]] float byte_rounds(int64_t rounds, float seed,
                                                                                         std::index_sequence<kChain...>) {
  const __m512i bytes = (__m512i)_mm512_set1_ps(1.0f - seed);
  __m512i chain[] = {_mm512_set1_epi32(static_cast<int>(kChain))...};
  for (int64_t r = 0; r < rounds * kUnroll; ++r) ((chain[kChain] = _mm512_dpbusd_epi32(chain[kChain], bytes, bytes)), ...);
  __m512i sum = bytes;
  ((sum += chain[kChain]), ...);
  return static_cast<float>(sum[0]);
}
float rounds_of_bytes(int64_t rounds, float seed) { return byte_rounds(rounds, seed, std::make_index_sequence<kChains>()); }
#endif

struct Loop {
  float (*rounds)(int64_t, float);
  int products;  ///< of an instruction
  int chains = kChains;
};

Loop widest_loop(ProductKind products) {
#if defined(__x86_64__)
  if (products == ProductKind::bf16) return {rounds_of_pairs, 32, kChainsOfPairs};
  if (products == ProductKind::bytes) return {rounds_of_bytes, 64};
  if (__builtin_cpu_supports("avx512f")) return {rounds_512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {rounds_256, 8};
#endif
  return {rounds_128, 4};
}

/// Keeps the loop alive in the optimiser's eyes.
void use(float value) { [[maybe_unused]] volatile float sink = value; }

double seconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

double quantile(std::span<const double> samples, double q) {
  TENON_ASSERT(!samples.empty());
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Interval median_interval(std::span<const double> samples, double level, uint64_t seed) {
  constexpr int kResamples = 4000;
  std::mt19937_64 random(seed);
  std::vector<double> drawn(samples.size()), medians;
  for (int r = 0; r < kResamples; ++r) {
    for (double& d : drawn) d = samples[random() % samples.size()];
    medians.push_back(median(drawn));
  }
  return {quantile(medians, (1 - level) / 2), quantile(medians, (1 + level) / 2)};
}

FmaPeak::FmaPeak(int threads, ProductKind products)
    : threads_(std::clamp(threads, 1, default_thread_pool().size())), products_(products), seconds_per_round_(1) {
  const Loop loop = widest_loop(products_);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto start = Clock::now();
    use(loop.rounds(kRoundsPerTask, 1e-3f));
    seconds_per_round_ = std::min(seconds_per_round_, seconds(start, Clock::now()) / kRoundsPerTask);
  }
}

double FmaPeak::measure(double milliseconds) const {
  const Loop loop = widest_loop(products_);
  const double task_seconds = seconds_per_round_ * kRoundsPerTask;
  // Many small tasks, so that a thread that wakes late or runs slow gives its share to the others, as with kernels.
  const int64_t tasks = std::max<int64_t>(4, std::llround(milliseconds / 1e3 / task_seconds)) * threads_;
  const auto body = [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) use(loop.rounds(kRoundsPerTask, 1e-3f));
  };
  const auto start = Clock::now();
  default_thread_pool().run(tasks, 1, body, threads_);
  const double elapsed = seconds(start, Clock::now());
  return static_cast<double>(tasks) * kRoundsPerTask * kUnroll * loop.chains * loop.products * 2 / elapsed / 1e9;
}

std::string_view name_of(ProductKind products) {
  switch (products) {
    case ProductKind::f32: return "f32";
    case ProductKind::bf16: return "bf16";
    case ProductKind::bytes: return "int8";
  }
  return "unknown";
}

Peaks::Peaks(int threads, const ByProductKind& flops) {
  for (size_t p = 0; p < kProductKinds; ++p)
    if (p == 0 || flops[p] > 0) peaks_[p].emplace(threads, static_cast<ProductKind>(p));
}

ByProductKind Peaks::measure() const {
  ByProductKind out{};
  for (size_t p = 0; p < kProductKinds; ++p)
    if (peaks_[p]) out[p] = peaks_[p]->measure();
  return out;
}

double least_ms(const ByProductKind& flops, const ByProductKind& peaks) {
  double out = 0;
  for (size_t p = 0; p < kProductKinds; ++p)
    if (flops[p] > 0) out += flops[p] / peaks[p] / 1e6;
  return out;
}

bool is_quiet(const Sample& sample, double best_peak) {
  if (sample.peaks.empty()) return true;
  const auto [low, high] = std::ranges::minmax(sample.peaks);
  return low >= 0.95 * high && low >= 0.8 * best_peak;
}

QuietSamples quiet_samples(std::span<const Sample> samples, size_t enough) {
  double best = 0;
  for (const Sample& s : samples)
    for (const double p : s.peaks) best = std::max(best, p);
  QuietSamples quiet;
  quiet.tried = samples.size();
  for (const Sample& s : samples)
    if (is_quiet(s, best)) quiet.samples.push_back(&s);
  quiet.count = quiet.samples.size();
  if (quiet.count >= enough) return quiet;
  quiet.samples.clear();
  for (const Sample& s : samples) quiet.samples.push_back(&s);
  return quiet;
}

}  // namespace tenon::cli
