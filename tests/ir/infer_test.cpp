// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_ops.h"
#include "ir/builder.h"
#include "ir/verify.h"

namespace tenon::ir {
namespace {

struct InferTest : testing::Test {
  fake::Table ops;
  Graph g{ops};
  Builder build{g};
  Dim batch = g.symbols().symbol("batch");
  ValueId x = g.add_input("x", Type(DType::f32, {batch, 8}));
};

TEST_F(InferTest, FoldsShapeDataWithoutConstants) {
  ValueId s = build("Add", {build("Shape", {x}), build.ints({1, 2})});
  ValueId y = build("Reshape", {x, s});
  ASSERT_TRUE(build.status()) << build.status().error().text();
  EXPECT_EQ(g.value(y).type.dim(0), batch + 1);
  EXPECT_EQ(g.value(y).type.dim(1), Dim(10));
  EXPECT_EQ(g.value(g.node(g.value(s).producer).inputs[1]).data->at(1), Dim(2)) << "constants keep their data";
}

TEST_F(InferTest, KeepsTheMoreSpecificOfBothDims) {
  NodeId n = g.insert(ops["Relu"], {x}, 1);
  ValueId y = g.node(n).outputs[0];
  g.set_type(y, Type(DType::f32, {4, g.symbols().symbol("other")}));
  ASSERT_TRUE(infer(g, n));
  EXPECT_EQ(g.value(y).type, Type(DType::f32, {4, 8}));
}

TEST_F(InferTest, KeepsDeclaredSizesWhereInferenceFindsNone) {
  NodeId n = g.insert(ops["NonZero"], {x}, 1);
  ASSERT_TRUE(infer(g, n));
  Type first = g.value(g.node(n).outputs[0]).type;
  ASSERT_TRUE(infer(g, n));
  EXPECT_EQ(g.value(g.node(n).outputs[0]).type, first) << "a second run must not rename data-dependent sizes";
}

TEST_F(InferTest, ChecksCountsFirst) {
  build("Add", {x});
  ASSERT_FALSE(build.status());
  EXPECT_EQ(build.status().error()->expected, "2");
  EXPECT_EQ(build.status().error()->found, "1");
  EXPECT_EQ(g.node_count(), 0u) << "what failed is taken out again";
  EXPECT_FALSE(build("Relu", {x})) << "the first error stays";
}

TEST_F(InferTest, RefusesUnknownOps) {
  build("com.example::Nothing", {x});
  ASSERT_FALSE(build.status());
  EXPECT_EQ(build.status().error()->place, "com.example::Nothing");
}

TEST_F(InferTest, ReadsIntsFromAttributeOrOperand) {
  ValueId axes = build.ints({1, -1});
  NodeId n = g.insert(ops["Add"], {axes, x}, 1);
  g.set_attribute(n, "axes", Ints{3});
  NodeView view = g.view(n);
  EXPECT_EQ(view.ints("axes", 0), Ints{3});
  EXPECT_EQ(view.ints("other", 0), (Ints{1, -1}));
  EXPECT_FALSE(view.ints("other", 1));
  EXPECT_EQ(view.dims(0)->size(), 2u);
}

TEST_F(InferTest, TypesBodiesFromCapturesAndFormalInputs) {
  ValueId c = g.add_input("c", Type(DType::i64, {}));
  NodeId n = g.insert(ops["Repeat"], {c, x}, 1);
  auto body = Graph::body_of(g);
  ValueId carried = body->add_input("carried", Type());
  ValueId captured = body->add_input("captured", Type());
  body->add_output(body->node(body->insert(ops["Add"], {carried, captured}, 1)).outputs[0]);
  g.attach_body(n, "body", std::move(body), std::array{x});
  auto done = infer(g, n);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(g.value(g.node(n).outputs[0]).type, g.value(x).type);
  EXPECT_TRUE(verify(g));
}

}  // namespace
}  // namespace tenon::ir
