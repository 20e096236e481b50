// SPDX-License-Identifier: Apache-2.0
#include "base/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor wide(std::vector<double> values) {
  Tensor t = *Tensor::make(DType::f64, {static_cast<int64_t>(values.size())});
  store_numbers(t, values);
  return t;
}
Tensor single(std::vector<float> values) { return Tensor::of_f32({static_cast<int64_t>(values.size())}, values); }

TEST(Distance, OfRoundedValuesIsWithinTheBound) {
  const Distance d = distance(single({1.0f / 3, 2.0f / 3}), wide({1.0 / 3, 2.0 / 3}));
  EXPECT_GT(d.largest, 0);
  EXPECT_LT(d.bound_ratio, 0.01);
  EXPECT_EQ(d.exceeding, 0);
}

TEST(Distance, NamesTheElementThatIsFurthestOff) {
  const Distance d = distance(single({1, 2, 3.5f, 4.1f}), wide({1, 2, 3, 4}));
  EXPECT_DOUBLE_EQ(d.largest, 0.5);
  EXPECT_EQ(d.at, 2);
  EXPECT_EQ(d.exceeding, 2);
  EXPECT_GT(d.bound_ratio, 1);
  EXPECT_EQ(d.found, "[2] is 3.5, reference 3");
}

TEST(Distance, GrowsItsBoundWithTheTensorsLargestElement) {
  const double off = 5e-4;
  EXPECT_GT(distance(single({static_cast<float>(off), 1}), wide({0, 1})).bound_ratio, 1);
  EXPECT_LT(distance(single({static_cast<float>(off), 100}), wide({0, 100})).bound_ratio, 1);
}

TEST(Distance, ReportsTheBoundOfAnElementThatShouldBeZero) {
  EXPECT_DOUBLE_EQ(distance(single({0, 0.5f}), wide({0, 0.5})).bound, 1e-5);
  EXPECT_DOUBLE_EQ(distance(single({0, 100}), wide({0, 100})).bound, 1e-3);
}

TEST(Distance, MaskFillDoesNotWidenTheBound) {
  EXPECT_GT(distance(single({0.1f, -3.4e38f}), wide({0, -3.4e38f})).bound_ratio, 1);
  EXPECT_GT(distance(single({0.01f, -1e4f}), wide({0, -1e4})).bound_ratio, 1);
}

TEST(Distance, RequiresNanAndInfinityAtTheSamePlaces) {
  EXPECT_EQ(distance(single({kNan, kInf, -kInf}), wide({kNan, kInf, -kInf})).at, -1);
  EXPECT_TRUE(std::isinf(distance(single({1}), wide({kNan})).bound_ratio));
  EXPECT_TRUE(std::isinf(distance(single({kNan}), wide({1})).bound_ratio));
  EXPECT_TRUE(std::isinf(distance(single({kInf}), wide({-kInf})).bound_ratio));
  EXPECT_TRUE(std::isinf(distance(single({3e38f}), wide({kInf})).bound_ratio));
}

TEST(Distance, LetsAFloatOverflowWhereItMust) { EXPECT_EQ(distance(single({kInf}), wide({1e39})).at, -1); }

TEST(Distance, OfIntegersIsZeroOrBad) {
  const Tensor a = Tensor::of_i64({3}, std::vector<int64_t>{1, 2, 3}), b = Tensor::of_i64({3}, std::vector<int64_t>{1, 2, 5});
  EXPECT_EQ(distance(a, a).bound_ratio, 0);
  const Distance d = distance(a, b);
  EXPECT_EQ(d.largest, 2);
  EXPECT_EQ(d.at, 2);
  EXPECT_TRUE(std::isinf(d.bound_ratio));
}

TEST(Distance, OfOtherShapesIsInfinite) {
  const Distance d = distance(single({1, 2}), wide({1, 2, 3}));
  EXPECT_TRUE(std::isinf(d.bound_ratio));
  EXPECT_EQ(d.found, "f32[2], reference f64[3]");
}

TEST(IsGood, AcceptsTheBoundOrTwiceTheOtherEnginesError) {
  const Tensor reference = wide({0, 1});
  const Distance near = distance(single({1e-6f, 1}), reference), far = distance(single({3e-3f, 1}), reference);
  const Distance other = distance(single({2e-3f, 1}), reference), better = distance(single({1e-3f, 1}), reference);
  EXPECT_TRUE(is_good(near));
  EXPECT_FALSE(is_good(far));
  EXPECT_TRUE(is_good(far, other));
  EXPECT_FALSE(is_good(far, better));
  EXPECT_TRUE(is_good(near, better));
  const Distance lost = distance(single({kNan, 1}), reference);
  EXPECT_FALSE(is_good(lost, lost)) << "what is not a number is not excused by another engine's";
}

TEST(IsDecided, WhereDecisionsMakeMoreThanAmplifiedRounding) {
  const Distance off = distance(single({1.5f}), wide({1}));
  EXPECT_TRUE(is_explained_by_decisions(off, 1e-6, 0.2));
  EXPECT_FALSE(is_explained_by_decisions(off, 1e-6, 0.1)) << "further off than decisions explain";
  EXPECT_FALSE(is_explained_by_decisions(off, 0.1, 0.2)) << "rounding alone, amplified";
  EXPECT_FALSE(is_explained_by_decisions(distance(single({kNan}), wide({1})), 0, 1));
  EXPECT_FALSE(is_bad(off, rounding_with_decisions(1e-6, 0.2)));
  EXPECT_TRUE(is_bad(off, rounding_with_decisions(1e-6, 0.1)));
}

TEST(IsBad, SeparatesAmplifiedRoundingFromABug) {
  const Distance off = distance(single({1.001f}), wide({1}));
  EXPECT_GT(off.bound_ratio, 1);
  EXPECT_TRUE(is_bad(off, 0));
  EXPECT_TRUE(is_bad(off, 1e-6));
  EXPECT_FALSE(is_bad(off, 1e-4));
  EXPECT_TRUE(is_bad(distance(single({kNan}), wide({1})), std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(is_bad(distance(single({1}), wide({1})), 0));
}

TEST(Tolerance, IsWiderForNarrowerTypes) {
  EXPECT_LT(tolerance_of(DType::f64).relative, tolerance_of(DType::f32).relative);
  EXPECT_LT(tolerance_of(DType::f32).relative, tolerance_of(DType::f16).relative);
  EXPECT_LT(tolerance_of(DType::f16).relative, tolerance_of(DType::bf16).relative);
  EXPECT_EQ(tolerance_of(DType::i64).absolute, 0);
}

}  // namespace
}  // namespace tenon
