// SPDX-License-Identifier: Apache-2.0
// Bodies of branches and loops whose sizes follow from the lengths of states.
#include <gtest/gtest.h>

#include "states/stepper.h"

namespace tenon::compiler {
namespace {

Tensor flag(bool value) { return Tensor::scalar(DType::boolean, value); }

constexpr const char* kAttend = R"(graph(go: bool[], x: f32[1,2,n,4], past: f32[1,2,p,4]) {
  now = Concat(past, x, axis=2)
  y = If(go) then_branch={ graph(q: f32[1,2,n,4], k: f32[1,2,p + n,4]) {
      t = Transpose(k, perm=[0,1,3,2]) s = MatMul(q, t) a = Softmax(s) r = MatMul(a, k) return r } } captures=[x, now]
    else_branch={ graph(q: f32[1,2,n,4], k: f32[1,2,p + n,4]) {
      e = Exp(k) s = ReduceSum(e, keepdims=1) r = Mul(q, s) return r } } captures=[x, now]
  state past(past) = now grows 2 to 256
  return y, now })";

TEST(StateBodies, BranchesPlanOnceWhileAStateGrows) {
  auto s = stepper(kAttend);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_STEP(*s, flag(true), random({1, 2, 1, 4}, 999));
  const uint64_t before = s->context->plans_made();
  for (uint64_t k = 0; k < 200; ++k) EXPECT_STEP(*s, flag(true), random({1, 2, 1, 4}, k));
  EXPECT_EQ(s->context->plans_made(), before);
  EXPECT_LE(before, 2u) << "one of the program and one of the branch";
  for (uint64_t k = 0; k < 5; ++k) EXPECT_STEP(*s, flag(k % 2 == 0), random({1, 2, 1, 4}, k));
  EXPECT_LE(s->context->plans_made(), before + 1);
}

TEST(StateBodies, LoopsPlanOnceWhileAStateGrows) {
  auto s = stepper(R"(graph(trips: i64[], x: f32[n,4], past: f32[p,4]) {
    now = Concat(past, x, axis=0)
    last = Loop(trips, _, now) body={ graph(i: i64[], c: bool[], v: f32[p + n,4], k: f32[p + n,4]) {
        e = Exp(v) d = ReduceSum(e, keepdims=1) m = Mul(d, k) s = Add(m, v) u = Tanh(s) return c, u } } captures=[now]
    state past(past) = now grows 0 to 64
    return last, now })");
  ASSERT_TRUE(s) << s.error().text();
  const Tensor trips = Tensor::of_i64({}, std::vector<int64_t>{3});
  EXPECT_STEP(*s, trips, random({1, 4}, 99));
  const uint64_t before = s->context->plans_made();
  for (uint64_t k = 0; k < 40; ++k) EXPECT_STEP(*s, trips, random({1, 4}, k));
  EXPECT_EQ(s->context->plans_made(), before);
}

/// The number of rows is data, their sizes follow from the length.
TEST(StateBodies, ValuesSizedByDataAndLengthsPlanOnce) {
  auto s = stepper(R"(graph(trips: i64[], x: f32[n,4], past: f32[p,4]) {
    now = Concat(past, x, axis=0)
    last, rows = Loop(trips, _, now) body={ graph(i: i64[], c: bool[], v: f32[p + n,4], k: f32[p + n,4]) {
        m = Mul(v, k) u = Tanh(m) return c, u, m } } captures=[now]
    e = Exp(rows) f = ReduceSum(e, keepdims=1) g = Mul(rows, f)
    state past(past) = now grows 0 to 64
    return last, rows, g, now })");
  ASSERT_TRUE(s) << s.error().text();
  const auto step = [&](int64_t trips, uint64_t seed) {
    EXPECT_STEP(*s, Tensor::of_i64({}, std::vector{trips}), random({1, 4}, seed));
    return s->context->plans_made();
  };
  const uint64_t before = step(3, 99);
  for (uint64_t k = 0; k < 40; ++k) EXPECT_EQ(step(3, k), before);
  EXPECT_LE(step(5, 7), before + 2) << "more rows";
}

}  // namespace
}  // namespace tenon::compiler
