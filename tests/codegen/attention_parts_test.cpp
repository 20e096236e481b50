// SPDX-License-Identifier: Apache-2.0
// Where keys are dealt out in parts: with few heads alone, also where only the run knows batch and queries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Whether a second kernel joins parts.
bool deals_out_keys(std::string_view heads, std::string_view keys, std::string_view batch = "b") {
  const auto text =
      fmt::format("graph main(q: f32[{2},{0},s,16], k: f32[{2},{0},{1},16], v: f32[{2},{0},{1},16]) {{ y = Attention(q, k, v) return y }}",
                  heads, keys, batch);
  const auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << text;
  const auto planned = planned_graph(**graph, {}, **target_named("x86_avx512"));
  EXPECT_TRUE(planned) << planned.error().text();
  return planned->kernels_by_group.back().back().tile.name == "attention_join";
}

TEST(AttentionParts, KeysAreSplitForFewHeadsWithManyKeys) {
  EXPECT_TRUE(deals_out_keys("2", "3000"));
  EXPECT_TRUE(deals_out_keys("2", "t"));
  EXPECT_FALSE(deals_out_keys("12", "3000"));
  EXPECT_FALSE(deals_out_keys("12", "t"));
  EXPECT_FALSE(deals_out_keys("2", "3000", "64*b")) << "windows of an image";
  EXPECT_FALSE(deals_out_keys("2", "300")) << "too few for two parts";
}

}  // namespace
}  // namespace tenon::codegen
