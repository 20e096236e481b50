// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/visible_keys.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::codegen {
namespace {

const Expr kScore = Expr::input(0, DType::f32), kQueryAxis = Expr::axis(kQuery), kKeyAxis = Expr::axis(kKey);
const Expr kNothing = Expr::constant(DType::f32, -std::numeric_limits<double>::infinity());
const Expr kLowest = Expr::constant(DType::f32, std::numeric_limits<float>::lowest());
const Expr kNone = Expr::constant(DType::f32, 0);

std::optional<VisibleKeys> of(Expr score) {
  Nest nest;
  nest.axes.resize(kAttentionAxes, {ops::Axis::Kind::parallel, Dim(4)});
  NestOutput out;
  out.value = std::move(score);
  nest.outputs.push_back(std::move(out));
  for (int axis : {kQuery, kQuery, kQuery, kQuery, kBatch, kKeyHead})
    nest.accesses.push_back({0, DType::i64, {Expr::axis(axis)}, {}, {}, {}});
  return visible_keys(nest);
}

/// "key <= 1*query + 0; score" with the lowest number.
std::string text(const Expr& score) {
  const auto found = of(score);
  if (!found) return "all";
  std::string out;
  for (const KeyBound& b : found->bounds)
    out += std::string(b.upper ? "key <= " : "key >= ") + std::to_string(b.slope) + "*query + " + b.offset.text() +
           (b.loaded ? " + " + b.loaded.text() : "") + "; ";
  return out + found->visible_score.text();
}

Expr integer(int64_t n) { return Expr::integer(DType::i64, n); }

TEST(VisibleKeys, CausalMaskBoundsKeysByTheQuery) {
  EXPECT_EQ(text(select(kKeyAxis <= kQueryAxis, kScore, kNothing)), "key <= 1*query + 0; x0");
  EXPECT_EQ(text(select(kQueryAxis < kKeyAxis, kNothing, kScore)), "key <= 1*query + 0; x0") << "the comparison says which keys are hidden";
  EXPECT_EQ(text(select(kKeyAxis < kQueryAxis + integer(1), kScore, kNothing)), "key <= 1*query + 0; x0");
}

TEST(VisibleKeys, SlidingWindowHasTwoBounds) {
  const Expr left = select(kQueryAxis - kKeyAxis <= integer(3), kScore, kNothing);
  EXPECT_EQ(text(left), "key >= 1*query + -3; x0");
  EXPECT_EQ(text(select(kKeyAxis <= kQueryAxis, left, kNothing)), "key <= 1*query + 0; key >= 1*query + -3; x0");
}

TEST(VisibleKeys, LengthsOfSequencesAreLoaded) {
  const Expr length = Expr::input(4, DType::i64), of_head = Expr::input(5, DType::i64);
  EXPECT_EQ(text(select(kKeyAxis < length, kScore, kNothing)), "key <= 0*query + -1 + x4; x0");
  EXPECT_EQ(text(select(kKeyAxis <= kQueryAxis + (length - integer(3)), kScore, kNothing)), "key <= 1*query + -3 + x4; x0");
  EXPECT_EQ(text(select(kQueryAxis + length - kKeyAxis <= integer(7), kScore, kNothing)), "key >= 1*query + -7 + x4; x0");
  EXPECT_EQ(text(select(kKeyAxis < of_head, kScore, kNothing)), "all") << "heads of one tile would have several bounds";
}

TEST(VisibleKeys, OtherTermsOfTheMaskStay) {
  const Expr keep = Expr::input(3, DType::boolean);
  EXPECT_EQ(text(kScore + select(logical_and(kKeyAxis <= kQueryAxis, keep), kNone, kLowest)),
            "key <= 1*query + 0; add(x0, select(x3, 0, -3.4028234663852886e+38))");
}

TEST(VisibleKeys, FiniteBiasHidesNoKey) {
  EXPECT_EQ(text(kScore), "all");
  EXPECT_EQ(text(kScore + select(kKeyAxis <= kQueryAxis, kNone, Expr::constant(DType::f32, -10000))), "all");
  EXPECT_EQ(text(select(logical_or(kKeyAxis <= kQueryAxis, Expr::input(3, DType::boolean)), kScore, kNothing)), "all");
}

TEST(VisibleKeys, HiddenScoreIsTheHighest) {
  EXPECT_EQ(of(kScore + select(kKeyAxis <= kQueryAxis, kNone, kLowest))->hidden_score, std::numeric_limits<float>::lowest());
  EXPECT_EQ(of(select(kKeyAxis <= kQueryAxis, kScore, kNothing))->hidden_score, -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tenon::codegen
