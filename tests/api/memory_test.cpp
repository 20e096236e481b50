// SPDX-License-Identifier: Apache-2.0
// Whichever allocation fails, the library returns an error or continues without it, and works afterwards. The operators below are those of
// the whole process: of the library, of the standard library and of LLVM.
#include <gtest/gtest.h>
#include <tenon/graph.h>

#include <cstdlib>
#include <new>

#include "allocations.h"
#include "c/checks.h"

std::atomic<long> tenon::tests::allocations{0};

namespace {

std::atomic<long>& calls = tenon::tests::allocations;
std::atomic<long> fail_at{0};  // 0: none

bool fails() {
  const long call = ++calls;
  return fail_at != 0 && call == fail_at;
}

void* allocate(size_t size, size_t alignment) {
  void* memory = fails() ? nullptr : aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (memory == nullptr) {
    if (const std::new_handler handler = std::get_new_handler()) handler();
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

void* operator new(size_t size) { return allocate(size, 16); }
void* operator new(size_t size, std::align_val_t alignment) { return allocate(size, static_cast<size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

const std::string kModel = std::string(TENON_TEST_DATA) + "/../../examples/mlp.onnx";

/// Calls `act`, then again with allocation 1, 1 + step, 1 + 2 * step, ... failing. Returns how often it was refused.
template <class Act>
int with_failures(long most, Act act) {
  const long before = calls;
  EXPECT_TRUE(act().has_value());
  const long count = calls - before, step = std::max(1L, count / most);
  int refused = 0;
  for (long k = 1; k <= count; k += step) {
    fail_at = calls + k;
    const auto done = act();
    fail_at = 0;
    if (done) continue;  // it did without: fewer threads, another allocation
    ++refused;
    EXPECT_EQ(done.error().code, tenon::Code::out_of_memory) << "allocation " << k << " of " << count << ": " << done.error().text();
  }
  return refused;
}

TEST(ApiMemory, ARunSurvivesEveryAllocationThatFails) {
  const auto engine = *tenon::compile(kModel, {.threads = 1});
  const std::vector<float> x(16, 0.5F);
  const tenon::Arrays inputs{{"x", tenon::Array({1, 16}, x)}};
  const auto right = engine.run(inputs)->at("y");
  EXPECT_GT(with_failures(1000, [&] { return engine.run(inputs); }), 0);
  const auto after = engine.run(inputs)->at("y");
  EXPECT_TRUE(std::ranges::equal(right.as<float>(), after.as<float>()));
}

TEST(ApiMemory, ALoadSurvivesEveryAllocationThatFails) {
  const auto path = std::filesystem::path(testing::TempDir()) / "memory.tenon";
  ASSERT_TRUE(tenon::compile(kModel)->save(path));
  EXPECT_GT(with_failures(1000, [&] { return tenon::Engine::load(path, {.verify = true}); }), 0);
  EXPECT_TRUE(tenon::Engine::load(path));
}

TEST(ApiMemory, ACompilationSurvivesAllocationsThatFail) {
  const std::filesystem::path model = kModel;
  const tenon::CompileOptions options{.threads = 1};
  EXPECT_GT(with_failures(60, [&] { return tenon::compile(model, options); }), 0);
  EXPECT_TRUE(tenon::compile(kModel));
}

TEST(ApiMemory, CallsFromCSurviveEveryAllocationThatFails) {
  const auto path = std::filesystem::path(testing::TempDir()) / "c_memory.tenon";
  const auto graph =
      *tenon::Graph::parse("graph(x: f32[n,4], k: f32[4]) { product = Mul(x, k) places = NonZero(product) return product, places }");
  ASSERT_TRUE(tenon::compile(graph)->save(path));
  const auto act = [&]() -> tenon::Result<> {
    const int32_t code = load_and_run(path.c_str());
    if (code == TENON_CODE_OK) return {};
    return std::unexpected(tenon::Error{static_cast<tenon::Code>(code), "", "", "", "", ""});
  };
  EXPECT_GT(with_failures(1000, act), 0);
  EXPECT_TRUE(act());
}

TEST(ApiMemory, AGraphSurvivesAllocationsThatFail) {
  const std::filesystem::path model = kModel, written = std::filesystem::path(testing::TempDir()) / "memory.onnx";
  EXPECT_GT(with_failures(100, [&] { return tenon::Graph::from_onnx(model); }), 0);
  const auto graph = *tenon::Graph::from_onnx(model);
  EXPECT_GT(with_failures(100, [&] { return graph.text(); }), 0);
  EXPECT_GT(with_failures(100, [&] { return graph.save_onnx(written); }), 0);
  EXPECT_GT(with_failures(60, [&] { return tenon::compile(graph, {.threads = 1}); }), 0);
  EXPECT_TRUE(tenon::compile(graph));
}

}  // namespace
