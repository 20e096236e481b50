// SPDX-License-Identifier: Apache-2.0
// Initializers that are inputs too: defaults that a run may override, on the way in and out.
#include <gtest/gtest.h>

#include "import/onnx_export.h"
#include "ir/text.h"
#include "model_bytes.h"
#include "ops/reference/evaluate.h"

namespace tenon::import::testing {
namespace {

/// y = x * w, z = reshape(y, s); w and s have defaults, w is listed before x.
GraphBytes scaled() {
  const float w[] = {1, 2, 3};
  const int64_t s[] = {3, 2};
  GraphBytes g;
  g.input("w", DType::f32, {"3"}).input("x", DType::f32, {"2", "3"}).input("s", DType::i64, {"2"});
  g.initializer(tensor_f32("w", {3}, w)).initializer(tensor_i64("s", {2}, s));
  g.node(node("Mul", {"x", "w"}, {"y"})).node(node("Reshape", {"y", "s"}, {"z"}));
  g.output("y", DType::f32, {"2", "3"}).output("z", DType::f32, {"", ""});
  return g;
}

std::vector<std::string> input_names(const ir::Graph& graph) {
  std::vector<std::string> out;
  for (const ir::ValueId v : graph.inputs()) out.push_back(graph.value(v).name);
  return out;
}

TEST(InputDefaults, FollowRequiredInputs) {
  const auto m = import_bytes(model(scaled()));
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(input_names(*m->graph), (std::vector<std::string>{"x", "w", "s"}));
  EXPECT_EQ(m->graph->required_inputs(), 1u);
  EXPECT_TRUE(m->warnings.empty());
}

TEST(InputDefaults, AreConstantsBeforeIrVersion4) {
  const auto m = import_bytes(model(scaled(), 9, {}, 3));
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(input_names(*m->graph), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(m->warnings.empty());
}

TEST(InputDefaults, AreConstantsWithAWarningWhenFrozen) {
  ImportOptions options;
  options.freeze_defaults = true;
  const auto m = import_bytes(model(scaled()), options);
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(input_names(*m->graph), (std::vector<std::string>{"x"}));
  EXPECT_EQ(m->warnings.size(), 2u);
}

TEST(InputDefaults, AreExportedAsInputAndInitializer) {
  const auto first = import_bytes(model(scaled()));
  ASSERT_TRUE(first) << first.error().text();
  const auto bytes = export_onnx_bytes(*first->graph);
  ASSERT_TRUE(bytes) << bytes.error().text();
  const auto again = import_bytes(*bytes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(input_names(*again->graph), input_names(*first->graph));
  EXPECT_EQ(again->graph->required_inputs(), 1u);
  Tensor x = *Tensor::make(DType::f32, {2, 3}), w = *Tensor::make(DType::f32, {3});
  for (int64_t k = 0; k < 6; ++k) x.set_number(k, 1);
  for (int64_t k = 0; k < 3; ++k) w.set_number(k, 7);
  const auto by_default = ops::evaluate(*again->graph, std::vector{x}), overridden = ops::evaluate(*again->graph, std::vector{x, w});
  ASSERT_TRUE(by_default && overridden);
  EXPECT_EQ((*by_default)[0].number(2), 3);
  EXPECT_EQ((*overridden)[0].number(2), 7);
  EXPECT_EQ((*overridden)[1].shape(), (Sizes{3, 2}));
}

TEST(InputDefaults, OfAnotherShapeThanTheirInputAreRefused) {
  const float w[] = {1, 2};
  GraphBytes g;
  g.input("x", DType::f32, {"3"}).input("w", DType::f32, {"3"}).initializer(tensor_f32("w", {2}, w));
  g.node(node("Mul", {"x", "w"}, {"y"})).output("y", DType::f32, {"3"});
  const auto m = import_bytes(model(g));
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::bad_graph);
  EXPECT_NE(m.error().text().find("'w'"), std::string::npos) << m.error().text();
}

TEST(InputDefaults, MayHaveOpenSizes) {
  const float w[] = {1, 2, 3};
  GraphBytes g;
  g.input("x", DType::f32, {"1"}).input("w", DType::f32, {"n"}).initializer(tensor_f32("w", {3}, w));
  g.node(node("Mul", {"x", "w"}, {"y"})).output("y", DType::f32, {"n"});
  const auto m = import_bytes(model(g));
  ASSERT_TRUE(m) << m.error().text();
  const std::string text = ir::print(*m->graph);
  const auto parsed = ir::parse(text, ops::table());
  ASSERT_TRUE(parsed) << parsed.error().text() << "\n" << text;
  EXPECT_EQ(ir::print(**parsed), text);
}

TEST(RandomStreams, AreNumberedByImportAndLeftOutByExport) {
  GraphBytes g;
  g.node(node("RandomNormal", {}, {"a"}, {attribute("shape", ir::Ints{4})}));
  g.node(node("RandomNormal", {}, {"b"}, {attribute("shape", ir::Ints{4})}));
  g.output("a", DType::f32, {"4"}).output("b", DType::f32, {"4"});
  const auto m = import_bytes(model(g));
  ASSERT_TRUE(m) << m.error().text();
  std::vector<int64_t> streams;
  for (const ir::NodeId n : m->graph->nodes()) streams.push_back(m->graph->node(n).attributes.integer("stream", -1));
  EXPECT_EQ(streams, (std::vector<int64_t>{0, 1}));
  const auto bytes = export_onnx_bytes(*m->graph);
  ASSERT_TRUE(bytes) << bytes.error().text();
  EXPECT_EQ(bytes->find("stream"), std::string::npos);
}

}  // namespace
}  // namespace tenon::import::testing
