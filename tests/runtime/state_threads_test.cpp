// SPDX-License-Identifier: Apache-2.0
// Contexts of one engine, each with its own states, on several threads at once.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

constexpr int kRounds = 100;

Result<std::vector<float>> append(Context& context, float value) {
  const std::vector<float> x(static_cast<size_t>(kOuter * kInner), value);
  const auto seen = TRY(context.run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, x)}));
  return std::vector<float>(seen[0].as<float>().begin(), seen[0].as<float>().end());
}

/// f32[2,rows,3] whose rows are the values.
std::vector<float> rows_of(const std::vector<float>& values) {
  std::vector<float> out;
  for (int64_t o = 0; o < kOuter; ++o)
    for (const float v : values) out.insert(out.end(), static_cast<size_t>(kInner), v);
  return out;
}

/// Whether a context, forked, saved and restored between its runs, sees its own rows alone.
bool sees_own_rows(const std::shared_ptr<Engine>& engine, float value) {
  auto context = *Context::create(engine);
  for (int k = 0; k < kRounds; ++k, value += 1) {
    if (append(*context, value) != rows_of({value})) return false;
    auto fork = *context->fork();
    const std::string saved = *context->save_states();
    if (append(*context, value + 0.5F) != rows_of({value, value + 0.5F})) return false;
    if (append(*fork, -value) != rows_of({value, -value})) return false;
    if (!context->restore_states(saved) || !context->set_length(0, 1)) return false;
    if (append(*context, value + 0.25F) != rows_of({value, value + 0.25F})) return false;
    if (k % 2 == 0) context = std::move(fork);
    context->reset();
    if (context->length(0) != 0 || context->state_value(1)->number(0) != 0) return false;
  }
  return true;
}

TEST(StatesOnThreads, ContextsOfOneEngineHaveSeparateStates) {
  const auto engine = state_engine();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (const float value : {1000.0F, 2000.0F, 3000.0F}) threads.emplace_back([&, value] { right += sees_own_rows(engine, value); });
  }
  EXPECT_EQ(right, 3);
}

TEST(StatesOnThreads, ForkOutlivesItsContext) {
  const auto engine = state_engine();
  auto context = *Context::create(engine);
  ASSERT_TRUE(append(*context, 1));
  auto fork = *context->fork();
  std::jthread other([&, own = std::move(context)] {
    for (int k = 0; k < kRounds; ++k) {
      own->reset();
      for (int64_t row = 0; row < kCapacity; ++row) (void)append(*own, 9);
    }
  });
  for (int k = 0; k < kRounds; ++k) {
    EXPECT_EQ(append(*fork, 2), rows_of({1, 2}));
    EXPECT_TRUE(fork->set_length(0, 1));
  }
  other.join();
  EXPECT_EQ(append(*fork, 3), rows_of({1, 3}));
}

}  // namespace
}  // namespace tenon::tests
