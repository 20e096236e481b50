// SPDX-License-Identifier: Apache-2.0
// Integers in wider types: where they may have run over, and who minds.
#include "lacking.h"

namespace tenon::partition {
namespace {

/// Bytes that ran over are cut to their low bits before anyone divides or compares them; those that cannot run over are passed on.
TEST(Casts, IntegersThatMayOverflowAreCastBetweenNodes) {
  const Lacking acc("acc", {DType::i8});
  EXPECT_EQ(partitioned("graph main(x: i8[4], y: i8[4]) { a = Add(x, y) b = Max(a, y) return b }", {&acc, &kHost}).text,
            "host: Cast(i32) Cast(i32) | acc: Add(i32) | host: Cast(i8) Cast(i32) | acc: Max(i32) | host: Cast(i8)");
  EXPECT_EQ(partitioned("graph main(x: i8[4], y: i8[4]) { a = Min(x, y) b = Max(a, y) return b }", {&acc, &kHost}).text,
            "host: Cast(i32) Cast(i32) | acc: Min(i32) Max(i32) | host: Cast(i8)");
}

/// Sums, products and what moves elements need no more than low bits, and give no more.
TEST(Casts, OverflowedIntegersReachReadersOfLowBitsWithoutACast) {
  const Lacking acc("acc", {DType::i8});
  EXPECT_EQ(
      partitioned("graph main(x: i8[4], y: i8[4]) { a = Add(x, y) b = Mul(a, y) c = BitwiseXor(b, a) return c }", {&acc, &kHost}).text,
      "host: Cast(i32) Cast(i32) | acc: Add(i32) Mul(i32) BitwiseXor(i32) | host: Cast(i8)");
  EXPECT_EQ(
      partitioned("graph main(x: i8[2,2], y: i8[2,2]) { a = Add(x, y) t = Transpose(a) b = Sub(t, y) return b }", {&acc, &kHost}).text,
      "host: Cast(i32) Cast(i32) | acc: Add(i32) Transpose(i32) Sub(i32) | host: Cast(i8)");
  // What has passed through is not whole again.
  EXPECT_EQ(
      partitioned("graph main(x: i8[2,2], y: i8[2,2]) { a = Add(x, y) t = Transpose(a) b = Max(t, y) return b }", {&acc, &kHost}).text,
      "host: Cast(i32) Cast(i32) | acc: Add(i32) Transpose(i32) | host: Cast(i8) Cast(i32) | acc: Max(i32) | host: Cast(i8)");
  EXPECT_EQ(partitioned("graph main(x: i8[4], y: i8[4]) { a = Add(x, y) b = Mul(a, y) c = Less(b, y) return c }", {&acc, &kHost}).text,
            "host: Cast(i32) Cast(i32) | acc: Add(i32) Mul(i32) | host: Cast(i8) Cast(i32) | acc: Less(bool)");
}

/// Where elements stand is told by whole numbers.
TEST(Casts, OverflowedIndicesAreCast) {
  const Lacking acc("acc", {DType::i32});
  EXPECT_EQ(
      partitioned("graph main(x: i32[4], i: i32[4], j: i32[4]) { k = Add(i, j) g = Gather(x, k) n = Add(g, i) return n }", {&acc, &kHost})
          .text,
      "host: Cast(i64) Cast(i64) | acc: Add(i64) | host: Cast(i32) Gather(i32) Cast(i64) | acc: Add(i64) | host: Cast(i32)");
}

}  // namespace
}  // namespace tenon::partition
