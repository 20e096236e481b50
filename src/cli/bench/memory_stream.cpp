// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/memory_stream.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/threads/thread_pool.h"

namespace tenon::cli {
namespace {

using Lanes = float __attribute__((vector_size(64)));
constexpr int64_t kBytes = int64_t{256} << 20, kTask = int64_t{1} << 20;
constexpr int64_t kStep = 512;  ///< bytes that sum_of reads in a step
constexpr int64_t kFloats = kBytes / sizeof(float), kTaskFloats = kTask / sizeof(float);

/// Eight sums, so that additions do not wait for each other. Compiled for the widest registers that this CPU has.
[[gnu::always_inline]] inline float summed(const float* from, int64_t count) {
  constexpr int kSums = 8, kLanes = sizeof(Lanes) / sizeof(float);
  Lanes sums[kSums] = {};
  for (int64_t i = 0; i < count; i += kSums * kLanes)
    for (int s = 0; s < kSums; ++s) {
      Lanes read;
      std::memcpy(&read, from + i + s * kLanes, sizeof read);
      sums[s] += read;
    }
  Lanes total = {};
  for (const Lanes& s : sums) total += s;
  return total[0];
}
#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float summed_512(const float* from, int64_t count) { return summed(from, count); }
[[gnu::target("avx2"), gnu::noinline]] float summed_256(const float* from, int64_t count) { return summed(from, count); }
#endif

}  // namespace

float sum_of(const float* from, int64_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return summed_512(from, count);
  if (__builtin_cpu_supports("avx2")) return summed_256(from, count);
#endif
  return summed(from, count);
}

MemoryStream::MemoryStream(int threads)
    : threads_(std::clamp(threads, 1, default_thread_pool().size())), bytes_(std::make_unique_for_overwrite<float[]>(kFloats)) {
  std::fill_n(bytes_.get(), kFloats, 1.0f);  // pages that were never written all map to one page of zeros
}

double MemoryStream::read() const {
  const auto body = [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) { [[maybe_unused]] volatile float sink = sum_of(bytes_.get() + t * kTaskFloats, kTaskFloats); }
  };
  const auto start = std::chrono::steady_clock::now();
  default_thread_pool().run(kBytes / kTask, 1, body, threads_);
  return static_cast<double>(kBytes) / std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

CacheStream::CacheStream(int threads, int64_t bytes_of_each)
    : threads_(std::clamp(threads, 1, default_thread_pool().size())),
      floats_(std::max<int64_t>(1, bytes_of_each / kStep) * kStep / static_cast<int64_t>(sizeof(float))),
      bytes_(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(floats_ * threads_))) {
  std::fill_n(bytes_.get(), floats_ * threads_, 1.0f);
}

double CacheStream::read() const {
  constexpr double kMostBytes = 32e6;
  const int64_t rounds = std::max<int64_t>(2, static_cast<int64_t>(kMostBytes) / (floats_ * static_cast<int64_t>(sizeof(float))));
  // A thread keeps to the part of its number: another's would come from another's cache.
  std::vector<double> ns(static_cast<size_t>(threads_), 0);
  const auto body = [&](int64_t begin, int64_t end, int thread) {
    for (int64_t t = begin; t < end; ++t) {
      const float* mine = bytes_.get() + thread * floats_;
      [[maybe_unused]] volatile float sink = sum_of(mine, floats_);
      const auto start = std::chrono::steady_clock::now();
      for (int64_t r = 0; r < rounds; ++r) sink = sum_of(mine, floats_);
      ns[static_cast<size_t>(thread)] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
    }
  };
  default_thread_pool().run(threads_, 1, body, threads_);
  double out = 0;
  for (const double each : ns)
    if (each > 0) out += static_cast<double>(rounds * floats_) * sizeof(float) / each;
  return out;
}

}  // namespace tenon::cli
