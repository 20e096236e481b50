// SPDX-License-Identifier: Apache-2.0
#include "ops/core/unknown.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/infer/verify_types.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

TEST(Unknown, NamesThatTheTableLacksAreOpsOfTheirOwn) {
  const ir::Op* a = table_with_unknown_ops().find("ZZZ", "Half");
  ASSERT_NE(a, nullptr);
  EXPECT_TRUE(a->unknown && !a->deterministic && !a->has_effects);
  EXPECT_EQ(a, table_with_unknown_ops().find("ZZZ", "Half"));
  EXPECT_NE(a, table_with_unknown_ops().find("YYY", "Half"));
  EXPECT_EQ(def_of(*a).name, "Half");
  EXPECT_EQ(table_with_unknown_ops().find("ai.onnx", "Half"), table_with_unknown_ops().find("", "Half"));
  EXPECT_EQ(table().find("ZZZ", "Half"), nullptr);
  EXPECT_EQ(table_with_unknown_ops().find("ZZZ", ""), nullptr);
}

TEST(Unknown, KnownOpsAreTheSameInBothTables) {
  EXPECT_EQ(table_with_unknown_ops().find("", "Relu"), table().find("", "Relu"));
  EXPECT_EQ(table_with_unknown_ops().find("com.microsoft", "BiasGelu"), table().find("com.microsoft", "BiasGelu"));
}

TEST(Unknown, ResultsKeepTheirDeclaredTypes) {
  const auto graph = ir::parse("graph main(x: f32[n,4]) { h: f16[n] = ZZZ::Half(x, _, level=2) a: i64[2], b = ZZZ::Two(h) return h, a, b }",
                               table_with_unknown_ops());
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_TRUE(ir::infer_all(**graph));
  EXPECT_TRUE(verify_types(**graph));
  const auto type = [&](uint32_t k) { return (*graph)->value((*graph)->outputs()[k]).type.text(); };
  EXPECT_EQ(type(0), "f16[n]");
  EXPECT_EQ(type(1), "i64[2]");
  EXPECT_EQ((*graph)->value((*graph)->outputs()[2]).type.dtype, DType::none);
  const auto again = ir::parse(ir::print(**graph), table_with_unknown_ops());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(ir::print(**again), ir::print(**graph));
  EXPECT_FALSE(ir::parse(ir::print(**graph), table()));
}

TEST(Unknown, CannotBeEvaluated) {
  const auto graph = ir::parse("graph main(x: f32[2]) { y: f32[2] = ZZZ::Half(x) return y }", table_with_unknown_ops());
  ASSERT_TRUE(graph) << graph.error().text();
  const float x[] = {1, 2};
  const Tensor inputs[] = {Tensor::of_f32({2}, x)};
  const auto y = evaluate(**graph, inputs);
  ASSERT_FALSE(y);
  EXPECT_EQ(y.error().code(), Code::not_supported);
  EXPECT_NE(y.error().text().find("ZZZ::Half"), std::string::npos);
}

}  // namespace
}  // namespace tenon::ops
