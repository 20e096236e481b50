// SPDX-License-Identifier: Apache-2.0
// Sums of 8-bit integers with zero points: they run on register tiles without them, and give every integer of the reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// "const NAME: TYPE = [...]" with numbers from `low` up to `high`, both among them.
std::string constant(std::string_view name, std::string_view dtype, const Sizes& shape, int64_t low, int64_t high) {
  int64_t count = 1;
  for (const int64_t s : shape) count *= s;
  std::string values;
  for (int64_t k = 0; k < count; ++k) values += fmt::format("{}{}", k ? ", " : "", k == 0 ? high : low + k * 37 % (high - low + 1));
  return fmt::format("const {}: {}[{}] = [{}]\n", name, dtype, fmt::join(shape, ","), values);
}

std::vector<Tensor> inputs_of(const ir::Graph& graph, int64_t n) {
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs()) {
    const ir::Type& type = graph.value(v).type;
    Sizes sizes;
    for (Dim d : *type.shape) sizes.push_back(substitute(d, [&](const DimNode&) { return Dim(n); }).value());
    const bool is_signed = type.dtype == DType::i8;
    inputs.push_back(*ops::random_tensor(type.dtype, sizes, inputs.size() + 1, is_signed ? -128 : 0, is_signed ? 127 : 255));
  }
  return inputs;
}

/// Fused and not, for each target. sums: so many are of u8 and i8 in groups of four where it is fused.
void runs(const std::string& text, int sums) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  for (const Target* target : all_targets())
    for (const bool fuse : {true, false}) {
      SCOPED_TRACE(fmt::format("{}{}", target->name, fuse ? "" : ", not fused"));
      PlanOptions options;
      options.fuse = fuse;
      options.verify = true;
      const auto planned = planned_graph(**graph, options, *target);
      ASSERT_TRUE(planned) << planned.error().text();
      const auto is_plain = [](const Group& g) { return g.contraction() && g.contraction()->group == 4; };
      const auto before = plan(**graph, *target, options);  // not every target has an instruction for groups of four
      ASSERT_TRUE(before) << before.error().text();
      if (fuse) EXPECT_EQ(std::ranges::count_if(before->groups, is_plain), sums) << text_of(*before);
      for (const int64_t n : {0, 1, 5}) {
        const std::vector<Tensor> inputs = inputs_of(**graph, n);
        const auto want = ops::evaluate(**graph, inputs), got = run(*planned, inputs);
        ASSERT_TRUE(want) << want.error().text();
        ASSERT_TRUE(got) << got.error().text();
        for (int64_t i = 0; i < (*want)[0].count(); ++i)
          ASSERT_EQ((*want)[0].integer(i), (*got)[0].integer(i)) << "n=" << n << ", element " << i << "\n" << text_of(planned->plan);
      }
    }
}

std::string product(std::string_view inputs, const std::string& constants, std::string_view call) {
  return fmt::format("graph main({}) {{\n{}y = {} return y }}", inputs, constants, call);
}

TEST(FoldZeroPoints, MovesThemAfterTheProduct) {
  runs(product("x: u8[n,7]", constant("w", "i8", {7, 19}, -120, 120) + "const zx: u8[] = [131]\n" + constant("zw", "i8", {19}, -7, 7),
               "MatMulInteger(x, w, zx, zw)"),
       1);
}

TEST(FoldZeroPoints, AcceptsRuntimeZeroPoints) {
  runs(product("x: u8[n,7], zx: u8[]", constant("w", "i8", {7, 19}, -128, 127), "MatMulInteger(x, w, zx)"), 1);
}

TEST(FoldZeroPoints, AcceptsOneZeroPointPerRow) {
  runs(product("x: u8[2,n,7], zx: u8[2,n,1]", constant("w", "i8", {7, 19}, -128, 127), "MatMulInteger(x, w, zx)"), 1);
}

TEST(FoldZeroPoints, ShiftsSignedDataBy128) {
  runs(product("x: i8[n,7]", constant("w", "i8", {7, 19}, -128, 127), "MatMulInteger(x, w)"), 1);
  runs(product("x: i8[n,7], zx: i8[]", constant("w", "i8", {7, 19}, -128, 127), "MatMulInteger(x, w, zx)"), 1);
}

TEST(FoldZeroPoints, MakesUnsignedWeightsSigned) {
  runs(product("x: u8[n,7]", constant("w", "u8", {7, 19}, 0, 255) + "const zx: u8[] = [3]\nconst zw: u8[] = [128]\n",
               "MatMulInteger(x, w, zx, zw)"),
       1);
}

TEST(FoldZeroPoints, KeepsThoseThatLeaveEightBits) {
  runs(product("x: u8[n,7]", constant("w", "u8", {7, 19}, 0, 255) + "const zw: u8[] = [100]\n", "MatMulInteger(x, w, _, zw)"), 0);
}

TEST(FoldZeroPoints, KeepsThoseOfRuntimeWeights) { runs(product("x: u8[n,7], w: i8[7,19], zx: u8[]", "", "MatMulInteger(x, w, zx)"), 0); }

TEST(FoldZeroPoints, PadsImagesWithTheZeroPoint) {
  const std::string weights = constant("w", "i8", {19, 3, 3, 2}, -128, 127);
  runs(product("x: u8[n,3,6,5]", weights + "const zx: u8[] = [200]\n" + constant("zw", "i8", {19}, 0, 0),
               "ConvInteger(x, w, zx, zw, pads=[1,0,2,1])"),
       1);
  runs(product("x: i8[n,3,6,5]", weights + "const zx: i8[] = [-3]\n",
               "ConvInteger(x, w, zx, pads=[1,1,1,1], strides=[2,1], dilations=[1,2])"),
       1);
  runs(product("x: u8[n,3,6,5], zx: u8[]", weights, "ConvInteger(x, w, zx, pads=[0,1,1,0], strides=[2,2])"), 1);
  runs(product("x: i8[n,3,6,5], zx: i8[1]", weights, "ConvInteger(x, w, zx, pads=[1,1,1,1])"), 1);
}

TEST(FoldZeroPoints, UsesTheChannelsOfEachGroup) {
  runs(product("x: u8[n,6,4,5]",
               constant("w", "i8", {10, 3, 2, 2}, -100, 100) + "const zx: u8[] = [9]\n" + constant("zw", "i8", {10}, -20, 20),
               "ConvInteger(x, w, zx, zw, pads=[1,1,0,0], group=2)"),
       1);
}

TEST(FoldZeroPoints, WrapsLongSums) {
  runs(product("x: u8[n,3000]", constant("w", "i8", {3000, 2}, -128, 127) + "const zx: u8[] = [255]\n", "MatMulInteger(x, w, zx)"), 1);
}

}  // namespace
}  // namespace tenon::codegen
