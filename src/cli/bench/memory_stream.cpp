// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/memory_stream.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/threads.h"

namespace tenon::cli {
namespace {

using Lanes = float __attribute__((vector_size(64)));
constexpr int64_t kBytes = int64_t{256} << 20, kTask = int64_t{1} << 20;
constexpr int64_t kFloats = kBytes / sizeof(float), kTaskFloats = kTask / sizeof(float);

/// Eight sums, so that additions do not wait for each other.
float sum_of(const float* from, int64_t count) {
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

}  // namespace

MemoryStream::MemoryStream(int threads)
    : threads_(std::clamp(threads, 1, default_team().size())), bytes_(std::make_unique_for_overwrite<float[]>(kFloats)) {
  std::fill_n(bytes_.get(), kFloats, 1.0f);  // pages that nobody wrote are all the same page of zeros
}

double MemoryStream::read() const {
  const auto body = [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) { [[maybe_unused]] volatile float sink = sum_of(bytes_.get() + t * kTaskFloats, kTaskFloats); }
  };
  const auto start = std::chrono::steady_clock::now();
  default_team().run(kBytes / kTask, 1, body, threads_);
  return static_cast<double>(kBytes) / std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace tenon::cli
