// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/machine_figures.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <numeric>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cli/bench/measure.h"
#include "cli/bench/memory_stream.h"

namespace tenon::cli {
namespace {

constexpr int kTries = 5;

template <class F>
double best_of_tries(const F& measure) {
  double best = 0;
  for (int k = 0; k < kTries; ++k) best = std::max(best, measure());
  return best;
}

/// Work for all threads until the system has dealt them out to CPUs that they keep: the first ones of a thread pool begin on one.
void settle(int threads) {
  constexpr auto kLong = std::chrono::milliseconds(200);
  const FmaPeak peak(threads, ProductKind::f32);
  for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < kLong;) peak.measure();
}

double peak_of_core(int threads, ProductKind products) {
  const FmaPeak peak(threads, products);
  return best_of_tries([&] { return peak.measure(); }) / threads;
}

codegen::Bandwidth cache_rate(int64_t bytes_of_one, int64_t bytes_of_each, int threads) {
  const CacheStream one(1, bytes_of_one), all(threads, bytes_of_each);
  return {best_of_tries([&] { return one.read(); }), best_of_tries([&] { return all.read(); })};
}

/// Each thread of the thread pool writes a part, and reads in another region (or writes over) one that a thread on another CPU wrote. The
/// median of some rounds. Threads that sleep between the two would be woken where their neighbour runs, and find its cache. 0: no round had
/// all threads.
double exchange_rate(int threads, bool reads) {
  constexpr int64_t kPart = 64 << 10;  // floats
  constexpr int kRounds = 30;
  std::vector<std::vector<float>> parts(static_cast<size_t>(threads), std::vector<float>(kPart));
  std::vector<int> writers(parts.size());
  std::vector<double> rates(parts.size()), all;
  for (int r = 0; r < kRounds; ++r) {
    const auto write = [&](int64_t begin, int64_t end, int thread) {
      for (int64_t t = begin; t < end; ++t) {
        std::ranges::fill(parts[static_cast<size_t>(t)], static_cast<float>(r));
        writers[static_cast<size_t>(t)] = thread;
      }
    };
    const auto read = [&](int64_t begin, int64_t end, int thread) {
      for (int64_t t = begin; t < end; ++t) {
        const size_t from = static_cast<size_t>(t + 1) % parts.size();
        const auto start = std::chrono::steady_clock::now();
        if (reads) {
          [[maybe_unused]] volatile float sink = sum_of(parts[from].data(), kPart);
        } else std::ranges::fill(parts[from], static_cast<float>(-r));
        const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
        rates[static_cast<size_t>(t)] = ns > 0 && writers[from] != thread ? kPart * sizeof(float) / ns : 0;
      }
    };
    default_thread_pool().run(threads, 1, write, threads);
    default_thread_pool().run(threads, 1, read, threads);
    // Rounds count in which all took part.
    if (std::ranges::all_of(rates, [](double rate) { return rate > 0; })) all.push_back(std::accumulate(rates.begin(), rates.end(), 0.0));
  }
  return all.empty() ? 0 : median(all);
}

/// Beyond some microseconds of work for each thread: of less, or of nothing, the calling thread takes it all before the others come.
double start_ns(int threads) {
  constexpr int kRegions = 200;
  const auto work = [](int64_t, int64_t, int) {
    for (int k = 0; k < 200; ++k) _mm_pause();
  };
  const auto ns_of = [](auto run) {
    return 1 / best_of_tries([&] {
             const auto start = std::chrono::steady_clock::now();
             for (int k = 0; k < kRegions; ++k) run();
             return kRegions / std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
           });
  };
  const double alone = ns_of([&] { work(0, 1, 0); });
  return std::max(1.0,
                  ns_of([&] { default_thread_pool().run(threads, 1, work, threads); }) - alone);  // more, on a machine that is left alone
}

/// The size of the first CPU's cache of that level, which the system states as text ("32768K"); `otherwise` where it does not (some
/// containers).
int64_t cache_bytes(int level, int64_t otherwise) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
  int64_t kib = 0;
  char unit = 0;
  return in >> kib >> unit && unit == 'K' && kib > 0 ? kib << 10 : otherwise;
}

/// The usable bytes of the third-level cache, since other processes may fill a part of it: the largest buffer that is read again at a rate
/// nearer to the cache's than to memory's.
int64_t held_bytes(const codegen::Machine& m) {
  int64_t bytes = m.l3_bytes;
  for (; bytes > 2 * m.l2_bytes * m.threads; bytes /= 2) {
    const CacheStream all(m.threads, bytes / m.threads);
    if (best_of_tries([&] { return all.read(); }) > (m.l3_bandwidth.all_cores + m.memory_bandwidth.all_cores) / 2) break;
  }
  return bytes;
}

}  // namespace

codegen::Machine measure_machine(const codegen::Target& target, int threads) {
  codegen::Machine out = codegen::default_machine(target, threads);
  settle(threads);
  out.f32_gflops = peak_of_core(threads, ProductKind::f32);
  if (target.multiply_add(DType::bf16, DType::bf16, DType::f32)) out.bf16_gflops = peak_of_core(threads, ProductKind::bf16);
  if (target.multiply_add(DType::u8, DType::i8, DType::i32)) out.int8_gflops = peak_of_core(threads, ProductKind::bytes);
  out.l2_bytes = cache_bytes(2, out.l2_bytes);
  out.l3_bytes = std::max(cache_bytes(3, out.l3_bytes), out.l2_bytes);
  out.l2_bandwidth = cache_rate(out.l2_bytes / 2, out.l2_bytes / 2, threads);
  // Twice what the second levels hold, where the third has room for it.
  const int64_t beyond = std::min(out.l3_bytes / 2 / threads, 4 * out.l2_bytes);
  out.l3_bandwidth = cache_rate(beyond, beyond, threads);
  const MemoryStream one(1), all(threads);
  out.memory_bandwidth = {best_of_tries([&] { return one.read(); }), best_of_tries([&] { return all.read(); })};
  out.l3_bytes = held_bytes(out);
  for (const auto& [rate, reads] : {std::pair(&out.shared_read_gbps, true), std::pair(&out.shared_write_gbps, false)})
    if (const double found = threads > 1 ? exchange_rate(threads, reads) : 0; found > 0) *rate = found;
  out.fork_join_ns = start_ns(threads);
  return out;
}

nlohmann::ordered_json machine_data(const codegen::Machine& m) {
  const auto rates = [](const codegen::Bandwidth& b) {
    return nlohmann::ordered_json{{"one_gbps", b.one_core}, {"all_gbps", b.all_cores}};
  };
  const auto known = [](double rate) { return rate > 0 ? nlohmann::ordered_json(rate) : nlohmann::ordered_json(nullptr); };
  return {{"threads", m.threads},
          {"f32_gflops", m.f32_gflops},
          {"bf16_gflops", known(m.bf16_gflops)},
          {"int8_gflops", known(m.int8_gflops)},
          {"second_level_cache", rates(m.l2_bandwidth)},
          {"third_level_cache", rates(m.l3_bandwidth)},
          {"memory", rates(m.memory_bandwidth)},
          {"exchange_gbps", known(m.shared_read_gbps)},
          {"take_gbps", known(m.shared_write_gbps)},
          {"start_ns", m.fork_join_ns},
          {"second_level_bytes", m.l2_bytes},
          {"third_level_bytes", m.l3_bytes}};
}

}  // namespace tenon::cli
