// SPDX-License-Identifier: Apache-2.0
// States in memory of the caller's.
#include <gtest/gtest.h>

#include <array>

#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

struct BoundStateTest : testing::Test {
  Tensor rows() const { return Tensor::view(DType::f32, {kOuter, kCapacity, kInner}, memory.data(), nullptr); }
  Tensor count_of(float* at) const { return Tensor::view(DType::f32, {kOuter}, at, nullptr); }
  Result<void> append(float value) {
    const std::vector<float> x(static_cast<size_t>(kOuter * kInner), value);
    TRY(context->run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, x)}));
    return {};
  }
  Code refused(size_t state, const Tensor& t, int64_t length = 0) {
    const auto bound = context->bind_state(state, t, length);
    EXPECT_FALSE(bound);
    return bound ? Code::internal : bound.error().code();
  }

  std::array<float, kOuter * kCapacity * kInner + 1> memory{};
  std::unique_ptr<Context> context = *Context::create(state_engine());
};

TEST_F(BoundStateTest, RunsWriteToMemoryOfTheCaller) {
  memory.fill(-1);
  ASSERT_TRUE(context->bind_state(0, rows(), 1));
  ASSERT_TRUE(append(7));
  EXPECT_EQ(context->length(0), 2);
  for (int64_t o = 0; o < kOuter; ++o)
    for (int64_t r = 0; r < kCapacity; ++r)
      EXPECT_EQ(memory[static_cast<size_t>((o * kCapacity + r) * kInner)], r == 1 ? 7 : -1) << "one row is written";
  EXPECT_EQ(context->state_value(0)->as<float>()[kInner], 7);
  ASSERT_TRUE(context->bind_state(0, Tensor()));
  EXPECT_EQ(context->length(0), 0);
}

TEST_F(BoundStateTest, BoundValueBecomesTheStateValue) {
  float count[kOuter] = {40, 50};
  ASSERT_TRUE(context->bind_state(1, count_of(count)));
  ASSERT_TRUE(append(1));
  EXPECT_EQ(count[1], 51);
  context->reset(1);
  EXPECT_EQ(count[1], 0);
  ASSERT_TRUE(append(1));
  ASSERT_TRUE(context->bind_state(1, Tensor()));
  ASSERT_TRUE(append(1));
  EXPECT_EQ(count[1], 1) << "unbound";
  EXPECT_EQ(context->state_value(1)->as<float>()[0], 1) << "from the initial value";
}

TEST_F(BoundStateTest, RefusesAnotherTypeLengthOrAlignment) {
  EXPECT_EQ(refused(0, Tensor::view(DType::f32, {kOuter, 3, kInner}, memory.data(), nullptr)), Code::bad_input);
  EXPECT_EQ(refused(0, Tensor::view(DType::i32, {kOuter, kCapacity, kInner}, memory.data(), nullptr)), Code::bad_input);
  EXPECT_EQ(refused(0, Tensor::of_strings({kOuter}, {"a", "b"})), Code::bad_input);
  EXPECT_EQ(refused(0, rows(), kCapacity + 1), Code::bad_input);
  EXPECT_EQ(refused(0, rows(), -1), Code::bad_input);
  const auto* const odd = reinterpret_cast<const std::byte*>(memory.data()) + 1;
  EXPECT_EQ(refused(0, Tensor::view(DType::f32, {kOuter, kCapacity, kInner}, odd, nullptr)), Code::bad_input);
  EXPECT_EQ(refused(1, Tensor::view(DType::f32, {kOuter}, memory.data(), nullptr), 1), Code::bad_input);
  EXPECT_TRUE(append(1)) << "as if nothing had been tried";
}

/// Kernels of the host read and write states.
TEST_F(BoundStateTest, RefusesMemoryOfADevice) {
  const auto bound =
      context->bind_state(0, Tensor::view(DType::f32, {kOuter, kCapacity, kInner}, memory.data(), nullptr, {.device = "gpu", .number = 1}));
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code(), Code::not_supported);
  EXPECT_EQ(bound.error()->place, "state 'rows'");
  EXPECT_EQ(bound.error()->found, "memory of device 'gpu' 1");
  EXPECT_TRUE(append(1)) << "as if nothing had been tried";
}

TEST_F(BoundStateTest, RefusesMemoryThatIsBoundAlready) {
  ASSERT_TRUE(context->bind_state(0, rows()));
  EXPECT_EQ(refused(0, rows()), Code::bad_usage) << "the same state twice";
  EXPECT_EQ(refused(1, count_of(memory.data() + kOuter * kCapacity * kInner - 1)), Code::bad_usage) << "its last element";
  EXPECT_EQ(refused(1, count_of(memory.data())), Code::bad_usage);
  ASSERT_TRUE(context->bind_state(0, Tensor()));
  EXPECT_TRUE(context->bind_state(1, count_of(memory.data())));
}

TEST_F(BoundStateTest, ForkOfBoundStateHasItsOwnMemory) {
  ASSERT_TRUE(context->bind_state(0, rows()));
  ASSERT_TRUE(append(3));
  const auto fork = context->fork();
  ASSERT_TRUE(fork);
  context->reset();
  memory.fill(0);
  EXPECT_EQ((*fork)->length(0), 1);
  EXPECT_EQ((*fork)->state_value(0)->as<float>()[0], 3);
}

/// What the caller has bound lives as long as the context.
TEST_F(BoundStateTest, KeepsTheOwnerOfItsMemoryAlive) {
  auto owner = std::make_shared<std::array<float, kOuter>>();
  const std::weak_ptr<std::array<float, kOuter>> alive = owner;
  ASSERT_TRUE(context->bind_state(1, Tensor::view(DType::f32, {kOuter}, owner->data(), owner)));
  owner.reset();
  EXPECT_TRUE(append(1));
  EXPECT_FALSE(alive.expired());
  context.reset();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace tenon::tests
