// SPDX-License-Identifier: Apache-2.0
// Zeros of both signs, NaN and infinities in ops that are composed of min and max, and as coordinates: reference and loop form agree, to
// the sign of zero.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "ops/reference/interpret.h"

namespace tenon::ops {
namespace {

constexpr double kSpecials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1};
constexpr size_t kCount = std::size(kSpecials);

/// Every pair of special values, x[i] and y[i].
std::vector<Tensor> pairs() {
  std::vector<Tensor> out;
  for (bool second : {false, true}) {
    Tensor t = *Tensor::make(DType::f32, {kCount * kCount});
    for (size_t i = 0; i < kCount * kCount; ++i) t.set_number(static_cast<int64_t>(i), kSpecials[second ? i % kCount : i / kCount]);
    out.push_back(std::move(t));
  }
  return out;
}

std::string text(double x) { return std::isnan(x) ? "nan" : (std::signbit(x) ? "-" : "+") + std::to_string(std::fabs(x)); }

/// The results by reference, after comparing them with the loop form. The only node has the graph's inputs as operands.
std::vector<double> both(const std::string& text_of_graph, const std::vector<Tensor>& inputs) {
  std::vector<double> out;
  auto graph = ir::parse(text_of_graph, table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return out;
  const auto want = evaluate(**graph, inputs);
  EXPECT_TRUE(want) << want.error().text();
  const ir::NodeId node = *(*graph)->nodes().begin();
  const auto form = def_of(*(*graph)->node(node).op).loop_form((*graph)->view(node));
  EXPECT_TRUE(form) << form.error().text();
  if (!want || !form) return out;
  std::vector<const Tensor*> operands;
  for (size_t k = 0; k < (*graph)->node(node).inputs.size(); ++k) operands.push_back(&inputs[k]);
  const auto got = interpret(*form, operands, [](const DimNode&) { return Dim(1); });
  EXPECT_TRUE(got) << got.error().text();
  for (int64_t i = 0; got && i < (*want)[0].count(); ++i) {
    out.push_back((*want)[0].number(i));
    EXPECT_EQ(text((*got)[0].number(i)), text(out.back())) << text_of_graph << " element " << i;
  }
  return out;
}

std::vector<double> both(const std::string& call) {
  return both("graph main(x: f32[49], y: f32[49]) { r = " + call + " return r }", pairs());
}

TEST(SpecialValues, MinAndMaxOrderZerosAndKeepNaN) {
  const std::vector<double> least = both("Min(x, y)"), most = both("Max(x, y)");
  for (size_t i = 0; i < least.size(); ++i) {
    const double x = kSpecials[i / kCount], y = kSpecials[i % kCount];
    EXPECT_EQ(std::isnan(least[i]), std::isnan(x) || std::isnan(y));
    EXPECT_EQ(std::isnan(most[i]), std::isnan(x) || std::isnan(y));
    if (x != 0 || y != 0) continue;
    EXPECT_EQ(std::signbit(least[i]), std::signbit(x) || std::signbit(y));
    EXPECT_EQ(std::signbit(most[i]), std::signbit(x) && std::signbit(y));
  }
}

TEST(SpecialValues, OpsComposedOfMinAndMaxAgreeWithTheirReference) {
  for (const char* call : {"Relu(x)", "HardSigmoid(x)", "HardSwish(x)", "Softplus(x)", "Mish(x)", "Celu(x)"}) both(call);
}

/// GridSample of a 4 x 4 image of 1 to 16 at these coordinates, x before y.
std::vector<double> looked_up(const std::string& how, const std::vector<double>& places) {
  Tensor image = *Tensor::make(DType::f32, {1, 1, 4, 4});
  Tensor grid = *Tensor::make(DType::f32, {1, 1, static_cast<int64_t>(places.size()) / 2, 2});
  for (int64_t i = 0; i < 16; ++i) image.set_number(i, static_cast<double>(i + 1));
  for (size_t i = 0; i < places.size(); ++i) grid.set_number(static_cast<int64_t>(i), places[i]);
  const std::string types = "x: f32[1,1,4,4], g: " + type_text(grid.dtype(), grid.shape());
  return both("graph main(" + types + ") { r = GridSample(x, g, " + how + ") return r }", {image, grid});
}

TEST(SpecialValues, GridSampleOfNaNReadsTheFirstCorner) {
  // As ONNX Runtime; ONNX does not define it.
  const std::vector<double> places = {NAN, NAN, NAN, 0.25, INFINITY, 0.25, -INFINITY, 0.25, 0.25, NAN, 1e20, 0.25, -1e20, 0.25};
  using List = std::vector<double>;
  EXPECT_EQ(looked_up("align_corners=0", places), (List{0.25, 4.5, 4.5, 4.5, 1.5, 4.5, 4.5}));
  EXPECT_EQ(looked_up("align_corners=1", places), (List{1, 8.5, 8.5, 8.5, 2.875, 8.5, 8.5}));
  for (std::string mode : {"border", "reflection"}) {
    EXPECT_EQ(looked_up("padding_mode=\"" + mode + "\"", places), (List{1, 9, 9, 9, 3, 9, 9}));
    EXPECT_EQ(looked_up("mode=\"nearest\", padding_mode=\"" + mode + "\"", places), (List{1, 9, 9, 9, 3, 9, 9}));
  }
  EXPECT_EQ(looked_up("mode=\"cubic\"", {NAN, NAN}), looked_up("mode=\"cubic\"", {-1, -1}));
  EXPECT_EQ(looked_up("align_corners=0", {1e6, 0.25}), List{0}) << "far away is outside";
}

}  // namespace
}  // namespace tenon::ops
