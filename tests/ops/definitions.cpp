// SPDX-License-Identifier: Apache-2.0
// Fused ops against their definitions in plain ops, and inference of those.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(type_text(a.dtype(), a.shape()), type_text(b.dtype(), b.shape()));
  const double tolerance = a.dtype() == DType::f64 ? 1e-9 : a.dtype() == DType::f32 ? 1e-5 : 4e-3;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (a.number(i) == b.number(i) || (std::isnan(a.number(i)) && std::isnan(b.number(i)))) continue;  // infinities too
    EXPECT_NEAR(a.number(i), b.number(i), tolerance * std::max(1.0, std::abs(a.number(i)))) << "element " << i;
  }
}

/// symbolic: with symbols for sizes, in which case a definition may refuse and the op runs by its reference.
void check_definition(const OpDef& def, std::string_view text, bool symbolic) {
  SCOPED_TRACE(std::string(def.name) + ": " + std::string(text) + (symbolic ? ", symbolic sizes" : ""));
  auto sample = parse_sample(def, text);
  ASSERT_TRUE(sample) << sample.error().text();
  auto made = build_sample(def, *sample, 7, symbolic);
  if (symbolic && !made && made.error().code() == Code::not_supported) return;
  ASSERT_TRUE(made) << made.error().text();
  auto before = evaluate(*made->graph, made->inputs);
  ASSERT_TRUE(before) << before.error().text();
  auto done = expand(*made->graph, made->node);
  if ((symbolic || def.loop_form) && !done && done.error().code() == Code::not_supported) return;
  ASSERT_TRUE(done) << done.error().text();
  auto after = evaluate(*made->graph, made->inputs);
  ASSERT_TRUE(after) << after.error().text();
  ASSERT_EQ(before->size(), after->size());
  for (size_t k = 0; k < before->size(); ++k) expect_close((*before)[k], (*after)[k]);
}

TEST(Definition, EqualsTheReferenceOfEveryFusedOp) {
  int checked = 0;
  for (const OpDef* def : all_ops()) {
    if (!def->definition || !def->reference) continue;
    for (std::string_view text : def->samples)
      for (bool symbolic : {false, true}) check_definition(*def, text, symbolic);
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST(Dropout, DropsWhatNumpyDropsWithTheSameSeed) {
  auto sample = parse_sample(def_of(*table().find("", "Dropout")), "f32[8] in 1..1, f32[] = 0.5, bool[] = 1; outputs=2, seed=7");
  auto made = build_sample(def_of(*table().find("", "Dropout")), *sample, 1);
  ASSERT_TRUE(made) << made.error().text();
  auto results = evaluate(*made->graph, made->inputs);
  ASSERT_TRUE(results) << results.error().text();
  const int64_t kept[] = {0, 1, 0, 1, 1, 1, 1, 0};  // numpy.random.RandomState(7).uniform(size=8) >= 0.5
  for (int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ((*results)[1].integer(i), kept[i]) << i;
    EXPECT_EQ((*results)[0].number(i), kept[i] ? 2 : 0) << i;
  }
}

TEST(Inference, ContractionsNameBothSizesThatDiffer) {
  ir::Graph graph(table());
  ir::Builder build(graph);
  const ir::ValueId a = graph.add_input("a", ir::Type(DType::f32, {8, 16})), b = graph.add_input("b", ir::Type(DType::f32, {15, 4}));
  build("MatMul", {a, b});
  ASSERT_FALSE(build.status());
  EXPECT_EQ(build.status().error().code(), Code::shape_mismatch);
  const std::string text = build.status().error().text();
  EXPECT_NE(text.find("16"), std::string::npos) << text;
  EXPECT_NE(text.find("15"), std::string::npos) << text;
}

TEST(Inference, AnEndlessRangeHasNoKnownSize) {
  for (const double end : {static_cast<double>(INFINITY), static_cast<double>(NAN), 1e30}) {
    ir::Graph graph(table());
    ir::Builder build(graph);
    const ir::ValueId y = build("Range", {build.scalar(DType::f64, 0), build.scalar(DType::f64, end), build.scalar(DType::f64, 1)});
    ASSERT_TRUE(build.status()) << build.status().error().text();
    EXPECT_FALSE(graph.value(y).type.dim(0).is_number()) << end;
  }
}

TEST(Inference, ConvolutionKeepsSymbolicSizes) {
  ir::Graph graph(table());
  ir::Builder build(graph);
  const Dim n = graph.symbols().symbol("n"), h = graph.symbols().symbol("h", 8);
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {n, 3, h, 32}));
  const ir::ValueId w = graph.add_input("w", ir::Type(DType::f32, {16, 3, 3, 3}));
  const ir::ValueId y = build("Conv", {x, w}, {{"strides", ir::Ints{2, 2}}, {"pads", ir::Ints{1, 1, 1, 1}}});
  ASSERT_TRUE(build.status()) << build.status().error().text();
  EXPECT_EQ(graph.value(y).type.dim(0), n);
  EXPECT_EQ(graph.value(y).type.dim(2), floor_div(h - 1, 2) + 1);
  EXPECT_EQ(graph.value(y).type.dim(3), Dim(16));
}

}  // namespace
}  // namespace tenon::ops
