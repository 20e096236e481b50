// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/in_precision.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::cli {
namespace {

bool rounds(std::string_view text) { return rounds_to_bytes(**ir::parse(text, ops::table())); }

TEST(RoundsToBytes, IsTrueWhereFloatsBecomeBytesAlone) {
  EXPECT_TRUE(rounds("graph main(x: f32[n], s: f32[], z: u8[]) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) return y }"));
  EXPECT_FALSE(rounds("graph main(x: u8[n], s: f32[], z: u8[]) { y = DequantizeLinear(x, s, z) return y }"));
  EXPECT_FALSE(rounds("graph main(x: f32[n]) { y = Exp(x) return y }"));
  EXPECT_FALSE(rounds("graph main(x: f32[n,3]) { y = ArgMax(x) return y }")) << "a place is no rounding";
}

}  // namespace
}  // namespace tenon::cli
