// SPDX-License-Identifier: Apache-2.0
// States with sizes that are symbols of the model (a batch), which a context fixes.
#include <gtest/gtest.h>

#include "states/stepper.h"

namespace tenon::compiler {
namespace {

constexpr const char* kAppend =
    "graph(x: f32[b,2,n,4], past: f32[b,2,p,4]) { now = Concat(past, x, axis=2) t = Transpose(now, perm=[0,1,3,2]) "
    "s = MatMul(x, t) a = Softmax(s) y = MatMul(a, now) state past(past) = now grows 2 to 16 return y, now }";
constexpr const char* kRead =
    "graph(past: f32[c,2,p,4]) { y = ReduceSum(past, keepdims=0) z = Exp(past) state past(past) = past grows 2 to 16 return y, z, past }";

TEST(FreeSizes, FirstRunFixesTheBatch) {
  auto s = stepper(kAppend);
  ASSERT_TRUE(s) << s.error().text();
  for (const int64_t batch : {3, 1, 3, 5, 3}) {
    for (uint64_t k = 0; k < 4; ++k) EXPECT_STEP(*s, random({batch, 2, 1, 4}, k));
    EXPECT_EQ(s->context->length(0), 4);
    const auto other = s->context->run(std::vector{random({2, 2, 1, 4}, 1)}, tests::run_options());
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), Code::bad_input);
    EXPECT_EQ(other.error()->place, "state 'past'");
    EXPECT_TRUE(other.error()->advice.contains("reset")) << other.error().text();
    EXPECT_STEP(*s, random({batch, 2, 3, 4}, 7));
    s->context->reset();
    s->reference.reset();
  }
  EXPECT_LE(s->context->plans_made(), 7u) << "one for each of the shapes: three batches with one and three rows, and the batch of 2";
}

TEST(FreeSizes, WholeStatesHaveABatch) {
  auto s = stepper(
      "graph(x: f32[b,4], w: f32[4,4], h: f32[b,4]) { r = MatMul(h, w) g = Add(r, x) now = Tanh(g) y = Exp(now) "
      "state h(h) = now return y, now }");
  ASSERT_TRUE(s) << s.error().text();
  const Tensor w = random({4, 4}, 9);
  for (const int64_t batch : {2, 7}) {
    for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({batch, 4}, k), w);
    s->context->reset();
    s->reference.reset();
  }
}

/// Strides of the growing axis contain the batch.
TEST(FreeSizes, BatchMayLieInsideOfTheGrowingAxis) {
  auto s = stepper(
      "graph(x: f32[n,b,3], past: f32[p,b,3]) { now = Concat(past, x, axis=0) y = ReduceSum(now, keepdims=0) e = Exp(now) "
      "state past(past) = now grows 0 to 9 return y, e, now }");
  ASSERT_TRUE(s) << s.error().text();
  for (const int64_t batch : {5, 2}) {
    for (uint64_t k = 0; k < 4; ++k) EXPECT_STEP(*s, random({2, batch, 3}, k));
    s->context->reset();
    s->reference.reset();
  }
}

TEST(FreeSizes, EntriesWithoutTheSizeReadItFromTheState) {
  auto s = stepper({{"append", kAppend}, {"read", kRead}});
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->engine->states().size(), 1u);
  for (const int64_t batch : {3, 2}) {
    const auto early = s->context->run({}, {}, 1);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().code(), Code::bad_input) << early.error().text();
    EXPECT_EQ(early.error()->place, "state 'past'");
    EXPECT_STEP(*s, random({batch, 2, 2, 4}, 1));
    EXPECT_EQ(s->step({}, 1), "");
    EXPECT_STEP(*s, random({batch, 2, 1, 4}, 2));
    EXPECT_EQ(s->step({}, 1), "");
    s->context->reset();
    s->reference.reset();
  }
}

TEST(FreeSizes, BoundMemoryFixesTheBatch) {
  auto s = stepper(kAppend);
  ASSERT_TRUE(s) << s.error().text();
  Tensor memory = *Tensor::make(DType::f32, {3, 2, 16, 4});
  EXPECT_EQ(s->context->bind_state(0, *Tensor::make(DType::f32, {3, 2, 15, 4})).error().code(), Code::bad_input);
  ASSERT_TRUE(s->context->bind_state(0, memory));
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({3, 2, 2, 4}, k));
  s->context->reset();  // the memory stays
  const auto other = s->context->run(std::vector{random({2, 2, 1, 4}, 1)});
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error()->expected.contains("bound memory")) << other.error().text();
  ASSERT_TRUE(s->context->bind_state(0, Tensor()));
  s->reference.reset();
  EXPECT_STEP(*s, random({2, 2, 1, 4}, 1));
}

TEST(FreeSizes, ForksAndSavedStatesKeepTheBatch) {
  auto s = stepper(kAppend);
  ASSERT_TRUE(s) << s.error().text();
  const auto nothing = s->context->save_states();
  ASSERT_TRUE(nothing);
  for (uint64_t k = 0; k < 2; ++k) EXPECT_STEP(*s, random({3, 2, 2, 4}, k));
  const auto saved = s->context->save_states();
  ASSERT_TRUE(saved);
  s->context = *s->context->fork();
  EXPECT_STEP(*s, random({3, 2, 2, 4}, 5));
  auto other = *runtime::Context::create(s->engine);
  ASSERT_TRUE(other->run(std::vector{random({2, 2, 1, 4}, 1)}));
  ASSERT_TRUE(other->restore_states(*saved));
  EXPECT_EQ(other->state_value(0)->shape(), (Sizes{3, 2, 4, 4}));
  EXPECT_FALSE(other->run(std::vector{random({2, 2, 1, 4}, 1)}));
  ASSERT_TRUE(other->run(std::vector{random({3, 2, 2, 4}, 5)}));
  EXPECT_EQ(testing::difference(*s->context->state_value(0), *other->state_value(0)), "");
  ASSERT_TRUE(other->restore_states(*nothing));
  EXPECT_TRUE(other->run(std::vector{random({4, 2, 1, 4}, 1)})) << "free again";
}

/// Nothing has fixed a size where one state of the run has another.
TEST(FreeSizes, RefusedRunsFixNothing) {
  const std::string both =
      "graph(x: f32[b,4], k: f32[b,4], v: f32[b,4]) { a = Add(k, x) c = Mul(v, x) state k(k) = a state v(v) = c return a, c }";
  const std::string one = "graph(x: f32[b,4], v: f32[b,4]) { c = Add(v, x) state v(v) = c return c }";
  auto s = stepper({{"both", both}, {"one", one}});
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_STEP(*s, random({2, 4}, 1));
  s->context->reset();
  s->reference.reset();
  const std::vector in{random({3, 4}, 1)};
  EXPECT_EQ(s->step(in, 1), "");
  ASSERT_FALSE(s->context->run(std::vector{random({2, 4}, 1)}));
  EXPECT_EQ(s->context->state_value(*s->engine->state("k"))->shape(), (Sizes{0, 4}));
  EXPECT_STEP(*s, random({3, 4}, 2));
}

TEST(FreeSizes, SizesThatFollowFromALengthAreRefused) {
  const auto s = stepper(
      "graph(x: f32[n,2], past: f32[p,2], h: f32[p,2]) { now = Concat(past, x, axis=0) g = Exp(h) "
      "state past(past) = now grows 0 to 9 state h(h) = g return now, g }");
  ASSERT_FALSE(s);
  EXPECT_TRUE(s.error().text().contains("one shape")) << s.error().text();
}

}  // namespace
}  // namespace tenon::compiler
