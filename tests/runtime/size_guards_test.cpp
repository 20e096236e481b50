// SPDX-License-Identifier: Apache-2.0
// Guards of sizes run whenever sizes change, on each way by which sizes become known.
#include <gtest/gtest.h>

#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

Guard equal_sizes(Slot a, Slot b) { return {Guard::Kind::equal, a, b, "node 'y' (Add)", "sizes differ", "a", "b"}; }

/// Shape mismatch, or nothing.
bool is_refused(const Result<std::span<const Tensor>>& got) {
  if (got) return false;
  EXPECT_EQ(got.error().code(), Code::shape_mismatch) << got.error().text();
  EXPECT_EQ(got.error()->place, "node 'y' (Add)");
  return true;
}

Result<std::span<const Tensor>> run_small(Context& context, const std::vector<float>& x) {
  const std::vector<int64_t> ids(x.size());
  const auto n = static_cast<int64_t>(x.size());
  return context.run(std::vector{Tensor::of_f32({n}, x), Tensor::of_i64({n}, ids)});
}

TEST(SizeGuards, OfInputsAreCheckedForEachShape) {
  ProgramTable table = small_program();
  table[0].guards = {equal_sizes(0, 1)};  // n == 2
  const auto context = *Context::create(small_engine(table));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(is_refused(run_small(*context, {1, 2, 3})));
    EXPECT_FALSE(is_refused(run_small(*context, {1, 2})));
  }
}

TEST(SizeGuards, OfDataAreCheckedOnceItIsKnown) {
  ProgramTable table = small_program();
  table[0].guards = {equal_sizes(0, 3)};  // all elements are over 0
  const auto context = *Context::create(small_engine(table));
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(is_refused(run_small(*context, {1, -5})));
    EXPECT_FALSE(is_refused(run_small(*context, {1, 2})));
  }
}

TEST(SizeGuards, OfLengthsAreCheckedInEachRun) {
  ProgramTable table = state_table();
  table[0].guards = {equal_sizes(1, 5)};  // one row before the run
  const auto context = *Context::create(state_engine(table));
  const auto append = [&] { return context->run(std::vector{*Tensor::make(DType::f32, {kOuter, 1, kInner})}); };
  EXPECT_TRUE(is_refused(append()));
  EXPECT_EQ(context->length(0), 0);
  float rows[kOuter * kCapacity * kInner] = {};
  ASSERT_TRUE(context->bind_state(0, Tensor::view(DType::f32, {kOuter, kCapacity, kInner}, rows, nullptr), 1));
  EXPECT_FALSE(is_refused(append()));
  EXPECT_TRUE(is_refused(append()));
  EXPECT_EQ(context->length(0), 2);
}

TEST(SizeGuards, OutOfOrderAreABadFile) {
  ProgramTable table = small_program();
  table[0].guards = {equal_sizes(0, 1), equal_sizes(0, 3)};
  EXPECT_TRUE(decode(encode(table)));
  std::swap(table[0].guards[0], table[0].guards[1]);
  EXPECT_FALSE(decode(encode(table)));
}

}  // namespace
}  // namespace tenon::tests
