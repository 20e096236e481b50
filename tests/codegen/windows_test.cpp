// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions, whose sums stay in registers: which are lowered so, and that they give what the reference says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Runs the graph in the interpreter and as machine code; "n" is 2, "h" is 9, "w" is 13. windows: so many kernels walk windows.
void runs(const std::string& text, size_t windows = 1, size_t groups = 2) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text() << text;
  std::vector<Tensor> inputs;
  for (ir::ValueId v : (*graph)->inputs()) {
    Sizes sizes;
    for (Dim d : *(*graph)->value(v).type.shape)
      sizes.push_back(substitute(d, [](const DimNode& s) { return Dim(s.name == "n" ? 2 : s.name == "h" ? 9 : 13); }).value());
    inputs.push_back(*ops::random_tensor((*graph)->value(v).type.dtype, sizes, inputs.size() + 1));
  }
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  PlanOptions options;
  options.verify = true;
  for (const char* target : {"x86_avx2", "x86_avx512"}) {
    const auto planned = planned_graph(**graph, options, **target_named(target));
    ASSERT_TRUE(planned) << planned.error().text();
    size_t found = 0;
    for (const auto& kernels : planned->kernels_by_group)
      for (const Kernel& k : kernels) found += k.tile.name == "window";
    ASSERT_EQ(found, windows) << text_of(planned->plan);
    if (windows > 0) ASSERT_EQ(planned->plan.groups.size(), groups) << text_of(planned->plan);
    for (const bool native : {false, true}) {
      if (native && (*target_for())->name != planned->target.name) continue;
      const auto got = run(*planned, inputs, native);
      ASSERT_TRUE(got) << got.error().text();
      for (int64_t i = 0; i < (*want)[0].count(); ++i)
        ASSERT_NEAR((*want)[0].number(i), (*got)[0].number(i), 1e-5 * std::max(1.0, std::abs((*want)[0].number(i))))
            << target << (native ? ", machine code" : "") << ", element " << i << "\n"
            << text_of(planned->plan);
    }
  }
}

/// An image whose channels stand last, as they do inside of a network.
std::string depthwise(std::string_view rows, std::string_view columns, int64_t channels, const Sizes& kernel,
                      std::string_view attributes = "", std::string_view then = "y = Transpose(c, perm=[0,2,3,1])") {
  return fmt::format(
      "graph main(x: f32[n,{0},{1},{2}]) {{ {3} {4} t = Transpose(x, perm=[0,3,1,2]) c = Conv(t, w, group={2}{5}) {6} return y }}", rows,
      columns, channels, weights("w", {channels, 1, kernel[0], kernel[1]}), weights("b", {channels, 1, 1}), attributes, then);
}

TEST(Windows, AllImageWidthsMatchReference) {
  for (const int columns : {1, 2, 6, 7, 8, 9, 15, 17, 40})
    if (columns > 1) runs(depthwise("5", std::to_string(columns), 8, {3, 3}, ", pads=[1,1,1,1]"));
    else runs(depthwise("5", "1", 8, {3, 3}, ", pads=[1,1,1,1]"), 0);  // one column is no slide
}

TEST(Windows, RaggedChannelsMatchReference) {
  for (const int channels : {3, 8, 17, 70, 150}) runs(depthwise("4", "9", channels, {3, 3}, ", pads=[1,1,1,1]"));
}

TEST(Windows, StridesAndDilationsMatchReference) {
  runs(depthwise("9", "12", 8, {3, 3}, ", pads=[1,1,1,1], strides=[2,2]"));
  runs(depthwise("9", "12", 8, {3, 3}, ", pads=[2,2,2,2], dilations=[2,2]"));
  runs(depthwise("9", "15", 8, {3, 3}, ", pads=[2,3,2,1], dilations=[1,2], strides=[2,3]"));
  runs(depthwise("9", "15", 8, {5, 2}, ", pads=[4,0,4,0], dilations=[2,3]"));
}

TEST(Windows, KernelSizesAndPaddingsMatchReference) {
  runs(depthwise("7", "7", 16, {7, 7}, ", pads=[3,3,3,3]"));
  runs(depthwise("6", "10", 5, {5, 5}, ", pads=[4,4,4,4]"));
  runs(depthwise("6", "10", 5, {2, 5}));
  runs(depthwise("3", "30", 9, {3, 11}, ", pads=[9,0,7,20]"));
}

TEST(Windows, DynamicSizesMatchReference) {
  runs(depthwise("h", "w", 9, {3, 3}, ", pads=[1,1,1,1]"));
  runs(depthwise("h", "w", 9, {5, 5}, ", pads=[2,2,2,2], strides=[2,2]"));
  runs(depthwise("h", "w", 9, {3, 3}));
}

TEST(Windows, MapsBecomeEpilogues) {
  runs(depthwise("7", "10", 12, {3, 3}, ", pads=[1,1,1,1]", "s = Add(c, b) r = Relu(s) y = MaxPool(r, kernel_shape=[2,2])"));
  runs(
      depthwise("h", "w", 12, {3, 3}, ", pads=[1,1,1,1]", "s = Add(c, b) g = Sigmoid(s) m = Mul(s, g) y = MaxPool(m, kernel_shape=[2,2])"));
  runs(depthwise("7", "10", 12, {3, 3}, ", pads=[1,1,1,1]", "s = Add(c, t) r = Relu(s) y = MaxPool(r, kernel_shape=[2,2])"));
}

/// Where channels stand apart outside, they are copied before the windows and after them, there by what else is computed of the sums.
TEST(Windows, InputImagesAreCopiedChannelsLast) {
  const std::string kernel = weights("w", {8, 1, 3, 6}), bias = weights("b", {8, 1, 1});
  runs("graph main(x: f32[n,8,7,12]) { " + kernel + "y = Conv(x, w, group=8, pads=[1,1,1,1], strides=[1,2]) return y }", 1, 3);
  runs("graph main(x: f32[n,8,h,w]) { " + kernel + "y = Conv(x, w, group=8, pads=[1,1,1,1]) return y }", 1, 3);
  runs("graph main(x: f32[n,8,7,9]) { " + kernel + bias + "c = Conv(x, w, group=8) s = Add(c, b) y = Relu(s) return y }", 1, 3);
  runs("graph main(x: f32[n,8,7,9]) { " + kernel + "c = Conv(x, w, group=8) y = Transpose(c, perm=[0,2,3,1]) return y }", 1, 3);
  runs("graph main(x: f32[n,8,25]) { " + weights("w", {8, 1, 16}) + "y = Conv(x, w, group=8, pads=[9,0]) return y }", 1, 3);
}

TEST(Windows, OneDimensionalWindowsMatchReference) {
  runs("graph main(x: f32[n,21,6]) { " + weights("w", {6, 1, 4}) +
       "t = Transpose(x, perm=[0,2,1]) c = Conv(t, w, group=6, pads=[3,0]) y = Transpose(c, perm=[0,2,1]) return y }");
}

TEST(Windows, RandomShapesMatchReference) {
  std::mt19937 random(11);
  const auto from = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int turn = 0; turn < 12; ++turn) {
    SCOPED_TRACE(turn);
    const int rows = from(2, 4), columns = from(2, 6);
    runs(depthwise(std::to_string(from(9, 14)), std::to_string(from(12, 25)), from(2, 40), {rows, columns},
                   fmt::format(", pads=[{},{},{},{}], strides=[{},{}], dilations=[{},{}]", from(0, 4), from(0, 4), from(0, 4), from(0, 4),
                               from(1, 3), from(1, 3), from(1, 2), from(1, 2))));
  }
}

TEST(Windows, OtherConvolutionsAreNoWindowSums) {
  runs("graph main(x: f32[1,8,8,8]) { " + weights("w", {8, 1, 3, 3}) + "y = Conv(x, w, group=8) return y }", 0);  // channels stand apart
  runs("graph main(x: f32[1,6,8,8]) { " + weights("w", {6, 1, 5, 5}) + "y = Conv(x, w, group=6) return y }", 0);  // and there are few
  runs("graph main(x: f32[1,6,8,8]) { " + weights("w", {4, 3, 3, 3}) + "y = Conv(x, w, group=2) return y }", 0);  // sums over channels
  runs("graph main(x: f32[1,8,8,8], w: f32[8,1,3,3]) { y = Conv(x, w, group=8) return y }", 0);                   // weights stand apart
}

/// Weights that are a part of a constant cannot be transposed: loops add them up, and others run the map after them.
TEST(Windows, PartsOfConstantsAreNoWeightsOfWindows) {
  runs("graph main(x: f32[n,4,6,8]) { " + weights("a", {8, 1, 3, 4}) + weights("v", {5, 8, 1, 1}) + R"(
    const first: i64[1] = [0]
    const last: i64[1] = [3]
    const axis: i64[1] = [3]
    w = Slice(a, first, last, axis)
    t = Transpose(x, perm=[0,3,1,2])
    c = Conv(t, w, group=8)
    r = Relu(c)
    y = Conv(r, v)
    return y
  })",
       0);
}

}  // namespace
}  // namespace tenon::codegen
