// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/machine_figures.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "base/threads.h"
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

double peak_of_core(int threads, Products products) {
  const FmaPeak peak(threads, products);
  return best_of_tries([&] { return peak.measure(); }) / threads;
}

codegen::Bandwidth cache_rate(int64_t bytes_of_one, int64_t bytes_of_each, int threads) {
  const CacheStream one(1, bytes_of_one), all(threads, bytes_of_each);
  return {best_of_tries([&] { return one.read(); }), best_of_tries([&] { return all.read(); })};
}

/// Each thread writes a part and reads what its neighbour wrote. The median of some rounds.
double exchange_rate(int threads) {
  constexpr size_t kPart = 64 << 10;  // floats
  constexpr int kRounds = 30;
  std::vector<std::vector<float>> parts(static_cast<size_t>(threads), std::vector<float>(kPart));
  std::vector<double> ns(static_cast<size_t>(threads));
  std::vector<double> rates;
  const auto add_rate = [&]() noexcept {
    double rate = 0;
    for (const double each : ns) rate += each > 0 ? kPart * sizeof(float) / each : 0;
    rates.push_back(rate);
  };
  rates.reserve(2 * kRounds);
  std::barrier<> written(threads);
  std::barrier read(threads, add_rate);
  std::vector<std::jthread> team;
  for (size_t t = 0; t < parts.size(); ++t)
    team.emplace_back([&, t] {
      for (int r = 0; r < kRounds; ++r) {
        std::ranges::fill(parts[t], static_cast<float>(r));
        written.arrive_and_wait();
        const auto start = std::chrono::steady_clock::now();
        [[maybe_unused]] volatile float sink = sum_of(parts[(t + 1) % parts.size()].data(), kPart);
        ns[t] = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
        read.arrive_and_wait();
      }
    });
  team.clear();
  return median(rates);
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
  return std::max(1.0, ns_of([&] { default_team().run(threads, 1, work, threads); }) - alone);  // more, on a machine that is left alone
}

/// Of the first CPU's cache of that level, in the system's words ("32768K"); containers hide it at times.
int64_t cache_bytes(int level, int64_t otherwise) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
  int64_t kib = 0;
  char unit = 0;
  return in >> kib >> unit && unit == 'K' && kib > 0 ? kib << 10 : otherwise;
}

}  // namespace

codegen::Machine measure_machine(const codegen::Target& target, int threads) {
  codegen::Machine out = codegen::usual_machine(target, threads);
  out.f32 = peak_of_core(threads, Products::f32);
  if (target.multiply_add(DType::bf16, DType::bf16, DType::f32)) out.bf16 = peak_of_core(threads, Products::bf16);
  if (target.multiply_add(DType::u8, DType::i8, DType::i32)) out.bytes = peak_of_core(threads, Products::bytes);
  out.second_bytes = cache_bytes(2, out.second_bytes);
  out.third_bytes = std::max(cache_bytes(3, out.third_bytes), out.second_bytes);
  out.second = cache_rate(out.second_bytes / 2, out.second_bytes / 2, threads);
  // Twice what the second levels hold, where the third has room for it.
  const int64_t beyond = std::min(out.third_bytes / 2 / threads, 4 * out.second_bytes);
  out.third = cache_rate(beyond, beyond, threads);
  const MemoryStream one(1), all(threads);
  out.memory = {best_of_tries([&] { return one.read(); }), best_of_tries([&] { return all.read(); })};
  out.exchange = threads > 1 ? exchange_rate(threads) : 0;
  out.start_ns = start_ns(threads);
  return out;
}

nlohmann::ordered_json machine_data(const codegen::Machine& m) {
  const auto rates = [](const codegen::Bandwidth& b) { return nlohmann::ordered_json{{"one_gbps", b.one}, {"all_gbps", b.all}}; };
  const auto known = [](double rate) { return rate > 0 ? nlohmann::ordered_json(rate) : nlohmann::ordered_json(nullptr); };
  return {{"threads", m.threads},
          {"f32_gflops", m.f32},
          {"bf16_gflops", known(m.bf16)},
          {"int8_gflops", known(m.bytes)},
          {"second_level_cache", rates(m.second)},
          {"third_level_cache", rates(m.third)},
          {"memory", rates(m.memory)},
          {"exchange_gbps", known(m.exchange)},
          {"start_ns", m.start_ns},
          {"second_level_bytes", m.second_bytes},
          {"third_level_bytes", m.third_bytes}};
}

}  // namespace tenon::cli
