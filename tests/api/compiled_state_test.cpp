// SPDX-License-Identifier: Apache-2.0
// States of models that are compiled, by the public interface.
#include <gtest/gtest.h>
#include <tenon/graph.h>

#include <algorithm>
#include <cstring>

#include "allocations.h"

namespace {

tenon::Engine compiled(const std::string& text) {
  const auto graph = tenon::Graph::parse(text);
  EXPECT_TRUE(graph) << graph.error().text();
  auto engine = tenon::compile(*graph);
  EXPECT_TRUE(engine) << engine.error().text();
  return *engine;
}

std::filesystem::path in_folder(const char* name) { return std::filesystem::path(testing::TempDir()) / name; }

constexpr int64_t kRows = 4096, kWidth = 64;

/// Allocations of a warm run.
long allocations_of(tenon::Context& context, std::span<const tenon::Array> inputs) {
  EXPECT_TRUE(context.run(inputs));
  const long before = tenon::tests::allocations;
  EXPECT_TRUE(context.run(inputs));
  return tenon::tests::allocations - before;
}

/// A run changes one row of a cache of 4,096, and allocates no more than a run without states.
TEST(ApiCompiledStates, ScatterIntoBoundMemoryWritesOneRow) {
  const auto engine = compiled(
      "graph(x: f32[1,1,64], at: i64[1], cache: f32[1,4096,64]) { now = TensorScatter(cache, x, at, axis=1) y = Mul(x, x) "
      "state cache(cache) = now return y, now }");
  ASSERT_EQ(engine.outputs().size(), 1u);
  auto context = *tenon::Context::create(engine);
  std::vector<float> cache(static_cast<size_t>(kRows * kWidth), -7);
  ASSERT_TRUE(context.bind_state(
      "cache", {.dtype = tenon::DType::f32, .shape = {1, kRows, kWidth}, .data = cache.data(), .bytes = cache.size() * sizeof(float)}));
  const std::vector<float> x(kWidth, 3);
  const std::vector<int64_t> at{1000};
  const std::vector inputs{tenon::Array({1, 1, kWidth}, x), tenon::Array({1}, at)};
  const long allocated = allocations_of(context, inputs);
  EXPECT_EQ(std::ranges::count(cache, 3.0F), kWidth);
  EXPECT_EQ(std::ranges::count(cache, -7.0F), (kRows - 1) * kWidth);
  EXPECT_EQ(cache[1000 * kWidth], 3);
  auto without = *tenon::Context::create(compiled("graph(x: f32[1,1,64], at: i64[1]) { y = Mul(x, x) return y }"));
  EXPECT_EQ(allocated, allocations_of(without, inputs));
}

constexpr const char* kAppend =
    "graph(x: f32[n,4], past: f32[p,4]) { now = Concat(past, x, axis=0) y = ReduceSum(now) state past(past) = now grows 0 to 9 return y, now }";

float appended(tenon::Context& context, float value) {
  const std::vector<float> x(4, value);
  const auto got = context.run({{"x", tenon::Array({1, 4}, x)}});
  EXPECT_TRUE(got) << got.error().text();
  return got ? got->at("y").as<float>()[0] : -1;
}

/// States that are saved in one process are restored by the engine file in another, and by a copy that was compiled where it was loaded.
TEST(ApiCompiledStates, SavedStatesFitTheEnginesFile) {
  const auto engine = compiled(kAppend);
  auto context = *tenon::Context::create(engine);
  EXPECT_EQ(appended(context, 1), 4);
  EXPECT_EQ(appended(context, 2), 12);
  const auto saved = *context.bytes();
  ASSERT_TRUE(engine.save(in_folder("append.tenon")));
  const auto loaded = tenon::Engine::load(in_folder("append.tenon"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  auto other = *tenon::Context::create(*loaded);
  const auto restored = other.restore(saved);
  ASSERT_TRUE(restored) << restored.error().text();
  EXPECT_EQ(appended(other, 3), 24);
}

TEST(ApiCompiledStates, PortableEnginesKeepStates) {
  ASSERT_TRUE(compiled(kAppend).save(in_folder("portable_append.tenon"), true));
  const auto loaded = tenon::Engine::load(in_folder("portable_append.tenon"));
  ASSERT_TRUE(loaded) << loaded.error().text();
  ASSERT_EQ(loaded->states().size(), 1u);
  EXPECT_EQ(loaded->states()[0].shape, (std::vector<int64_t>{9, 4}));
  auto context = *tenon::Context::create(*loaded);
  EXPECT_EQ(appended(context, 1), 4);
  EXPECT_EQ(appended(context, 2), 12);
  EXPECT_EQ(context.length("past"), 2);
}

TEST(ApiCompiledStates, TruncationTakesRowsBack) {
  auto context = *tenon::Context::create(compiled(kAppend));
  EXPECT_EQ(appended(context, 1), 4);
  EXPECT_EQ(appended(context, 100), 404);
  ASSERT_TRUE(context.set_length("past", 1));
  EXPECT_EQ(appended(context, 2), 12);
}

}  // namespace
