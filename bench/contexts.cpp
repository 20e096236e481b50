// SPDX-License-Identifier: Apache-2.0
// Runs a second of an engine in 1, 2 and 4 contexts at once, each on a thread of its own: do they share the cores without falling behind?
// JSON on stdout; "share" is of what one context alone did in the same turn.
//
// bench_contexts ENGINE [TURNS]: an engine whose inputs have fixed sizes.
#include <fmt/format.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace tenon;
using Clock = std::chrono::steady_clock;

constexpr int kContexts[] = {1, 2, 4};
constexpr auto kSample = std::chrono::milliseconds(500);

/// Ones, which are token numbers and parts of a mask too. The sizes of `port` are numbers.
Array ones_for(const Port& port) {
  std::vector<int64_t> shape = port.upper;
  int64_t count = 1;
  for (const int64_t n : shape) count *= n;
  if (port.dtype == DType::i64) {
    const auto data = std::make_shared<std::vector<int64_t>>(count, 1);
    return Array(port.dtype, std::move(shape), data->data(), data->size() * sizeof(int64_t), data);
  }
  const auto data = std::make_shared<std::vector<float>>(count, 1.0f);
  return Array(port.dtype, std::move(shape), data->data(), data->size() * sizeof(float), data);
}

/// Runs a second of all of them.
Result<double> runs_with(const Engine& engine, std::span<const Array> inputs, int contexts) {
  std::vector<Context> all;
  for (int c = 0; c < contexts; ++c) {
    auto made = Context::create(engine);
    if (!made) return std::unexpected(made.error());
    if (auto warm = made->run(inputs); !warm) return std::unexpected(warm.error());
    all.push_back(std::move(*made));
  }
  std::atomic<int64_t> runs = 0;
  const auto begin = Clock::now();
  {
    std::vector<std::jthread> threads;
    for (Context& context : all)
      threads.emplace_back([&] {
        while (Clock::now() < begin + kSample)
          if (context.run(inputs)) ++runs;
      });
  }
  return static_cast<double>(runs) / std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<nlohmann::json> measured(const char* file, int turns) {
  auto engine = Engine::load(file);
  if (!engine) return std::unexpected(engine.error());
  std::vector<Array> inputs;
  for (const Port& port : engine->inputs()) inputs.push_back(ones_for(port));
  std::vector<std::vector<double>> rates(std::size(kContexts)), shares(std::size(kContexts));
  for (int turn = 0; turn < turns; ++turn)
    for (size_t k = 0; k < std::size(kContexts); ++k) {
      const auto rate = runs_with(*engine, inputs, kContexts[k]);
      if (!rate) return std::unexpected(rate.error());
      rates[k].push_back(*rate);
      shares[k].push_back(*rate / rates[0].back());
    }
  const auto median = [](std::vector<double>& list) {
    std::ranges::nth_element(list, list.begin() + static_cast<ptrdiff_t>(list.size() / 2));
    return list[list.size() / 2];
  };
  nlohmann::json out = nlohmann::json::array();
  for (size_t k = 0; k < std::size(kContexts); ++k)
    out.push_back({{"contexts", kContexts[k]}, {"runs_per_second", median(rates[k])}, {"share", median(shares[k])}});
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  int turns = 9;
  const std::string_view given = argc > 2 ? argv[2] : "9";
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), turns);
  if (argc < 2 || error != std::errc() || end != given.data() + given.size() || turns < 1) {
    fmt::print(stderr, "usage: bench_contexts ENGINE [TURNS]\n");
    return 2;
  }
  const auto out = measured(argv[1], turns);
  if (!out) {
    fmt::print(stderr, "{}\n", out.error().text());
    return 1;
  }
  fmt::print("{}\n", out->dump(2));
  return 0;
}
