// SPDX-License-Identifier: Apache-2.0
// Types of results that follow from attributes or from a definition.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/sample.h"

namespace tenon::ops::testing {
namespace {

/// The type of the only output after inference, or the text of the error.
std::string inferred(std::string_view text) {
  auto graph = ir::parse(text, table());
  if (!graph) return graph.error().text();
  return (*graph)->value((*graph)->outputs()[0]).type.text();
}

TEST(ResultTypes, DefinitionsKeepTheRankOfSizesThatTheyCannotName) {
  const std::string range = inferred("graph main(a: i64[], b: i64[]) { y = com.microsoft::Range(a, b) return y }");
  EXPECT_TRUE(range.starts_with("i64[") && range.size() > 5) << range;
}

TEST(ResultTypes, StatisticsOfLayerNormalizationAreOfTheTypesThatTheSchemaHas) {
  const std::string_view head = "graph main(x: f32[2,3], s: f32[3]) { y, m = LayerNormalization(x, s, stash_type=";
  EXPECT_EQ(inferred(std::string(head) + "16) return m }"), "bf16[2,1]");
  EXPECT_TRUE(inferred(std::string(head) + "10) return m }").contains("Mean and InvStdDev have the type stash_type"));
  EXPECT_EQ(inferred("graph main(x: f32[2,3], s: f32[3]) { y = LayerNormalization(x, s, stash_type=10) return y }"), "f32[2,3]");
}

TEST(ResultTypes, TensorsOfTreeEnsembleHaveTheTypeOfItsInput) {
  const OpDef& def = def_of(*table().find("ai.onnx.ml", "TreeEnsemble"));
  std::string text(*def.samples.begin());
  EXPECT_TRUE(build_sample(def, *parse_sample(def, text), /*seed=*/1));
  text.replace(0, 3, "f64");
  const auto refused = build_sample(def, *parse_sample(def, text), /*seed=*/1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::dtype_mismatch);
  EXPECT_TRUE(refused.error().text().contains("nodes_splits")) << refused.error().text();
}

}  // namespace
}  // namespace tenon::ops::testing
