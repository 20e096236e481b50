// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3x3 by fewer products: which become so, and that they give what the reference says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <unordered_map>

#include "../../segments.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan_options.h"
#include "codegen/winograd/minimal_filter.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"
#include "winograd_graphs.h"

namespace tenon::codegen {
namespace {

/// "n" is 2, "h" is 9, "w" is 6.
std::vector<Tensor> inputs_of(const ir::Graph& graph) {
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs()) {
    Sizes sizes;
    for (Dim d : *graph.value(v).type.shape)
      sizes.push_back(substitute(d, [](const DimNode& s) { return Dim(s.name == "n" ? 2 : s.name == "h" ? 9 : 6); }).value());
    inputs.push_back(*ops::random_tensor(graph.value(v).type.dtype, sizes, inputs.size() + 1));
  }
  return inputs;
}

/// Plans the graph, in which so many convolutions go by tiles, and holds the interpreter and machine code against the reference.
void runs(const std::string& text, size_t convolutions = 1, PlanOptions options = winograd_always(), double tolerance = 1e-4) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const std::vector<Tensor> inputs = inputs_of(**graph);
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (const char* target : {"x86_avx2", "x86_avx512"}) {
    const auto planned = planned_graph(**graph, options, **target_named(target));
    ASSERT_TRUE(planned) << planned.error().text();
    ASSERT_EQ(transformed(planned->plan), 3 * convolutions) << text_of(planned->plan);
    for (const bool native : {false, true}) {
      if (native && (*target_for())->name != planned->target.name) continue;
      const auto got = run(*planned, inputs, native);
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < want->size(); ++k)
        for (int64_t i = 0; i < (*want)[k].count(); ++i)
          ASSERT_NEAR((*want)[k].number(i), (*got)[k].number(i), tolerance * std::max(1.0, std::abs((*want)[k].number(i))))
              << target << (native ? ", machine code" : "") << ", element " << i << "\n"
              << text_of(planned->plan);
    }
  }
}

TEST(Winograd, PartialTilesMatchReference) {
  for (const int rows : {1, 2, 4, 7, 9}) runs(convolution(fmt::format("2,3,{},{}", rows, 11 - rows), ", pads=[1,1,1,1]"));
  runs(convolution("1,3,5,4", ""));
  runs(convolution("1,3,8,6", ""));
}

TEST(Winograd, OneSidedPaddingMatchesReference) {
  runs(convolution("1,3,6,7", ", pads=[2,0,0,1]"));
  runs(convolution("1,3,6,7", ", pads=[0,3,4,0]"));
  runs(convolution("1,3,6,7", ", auto_pad=\"SAME_LOWER\""));
}

TEST(Winograd, DynamicSizesMatchReference) {
  runs(convolution("n,3,h,w", ", pads=[1,1,1,1]"));
  runs(convolution("n,3,h,w", ""));
  runs(convolution("n,3,8,8", ", pads=[1,1,1,1]", {17, 3, 3, 3}));
}

/// Convolutions of random sizes, pads and channels.
TEST(Winograd, RandomShapesMatchReference) {
  std::mt19937 random(5);
  const auto from = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int turn = 0; turn < 12; ++turn) {
    const Sizes w{from(2, 20), from(2, 12), 3, 3};
    SCOPED_TRACE(turn);
    runs(convolution(fmt::format("{},{},{},{}", from(1, 3), w[1], from(4, 13), from(4, 13)),
                     fmt::format(", pads=[{},{},{},{}]", from(0, 3), from(0, 3), from(0, 3), from(0, 3)), w));
  }
}

TEST(Winograd, EpilogueRunsOnTheTiles) {
  const std::string head = "graph main(x: f32[n,4,h,w], r: f32[n,4,h,w], s: f32[4,1,1]) { " + weights("w", {4, 4, 3, 3}) +
                           weights("b", {4}) + "c = Conv(x, w, b, pads=[1,1,1,1]) ";
  runs(head + "y = Relu(c) return y }");
  runs(head + "t = Add(c, r) y = Relu(t) return y }");
  runs(head + "t = Mul(c, s) u = Add(t, x) y = Relu(u) return y }");
  runs(head + "t = Add(c, r) u = Gelu(t) y = Mul(u, s) return y }");
  runs(head + "y = Cast(c, to=10) return y }", 1, winograd_always(), 2e-3);
}

TEST(Winograd, ConvolutionsInSequenceMatchReference) {
  runs(
      "graph main(x: f32[n,3,h,w]) { " + weights("v", {8, 3, 3, 3}) + weights("w", {8, 8, 3, 3}) +
          "a = Conv(x, v, pads=[1,1,1,1]) b = Relu(a) c = Conv(b, w, pads=[1,1,1,1]) d = Add(c, b) y = MaxPool(d, kernel_shape=[2,2]) return y }",
      2);
}

TEST(Winograd, TransposedImageMatchesReference) {
  runs("graph main(x: f32[n,h,w,3]) { " + weights("w", {4, 3, 3, 3}) +
       "t = Transpose(x, perm=[0,3,1,2]) c = Conv(t, w, pads=[1,1,1,1]) y = Transpose(c, perm=[0,2,3,1]) return y }");
}

TEST(Winograd, OtherConvolutionsAreUnchanged) {
  runs(convolution("1,4,8,8", ", pads=[1,1,1,1], group=2", {4, 2, 3, 3}), 0);
  runs(convolution("1,3,8,8", ", strides=[2,2]"), 0);
  runs(convolution("1,3,8,8", ", strides=[1,2]"), 0);
  runs(convolution("1,3,8,8", ", dilations=[2,2]"), 0);
  runs(convolution("1,1,8,8", "", {5, 1, 3, 3}), 0);
  runs(convolution("1,3,8,8", "", {1, 3, 3, 3}), 0);
  runs(convolution("1,3,8,8", "", {5, 3, 1, 3}), 0);
  runs(convolution("1,3,8,8", "", {5, 3, 5, 5}), 0);
  runs("graph main(x: f32[1,3,8,8], w: f32[4,3,3,3]) { y = Conv(x, w) return y }", 0);
  PlanOptions off = winograd_always();
  off.off.insert("winograd");
  runs(convolution("1,3,8,8", ""), 0, off);
}

/// The plan of one convolution as the limits have it by default: results a way of a tile, or 0.
int64_t outputs_a_way(std::string_view x, const Sizes& w) {
  std::string zeros;
  for (int64_t i = 0, n = w[0] * w[1] * 9; i < n; ++i) zeros += i == 0 ? "0" : ",0";
  const auto graph = ir::parse(fmt::format("graph main(x: f32[{}]) {{ const w: f32[{}] = [{}] y = Conv(x, w, pads=[1,1,1,1]) return y }}",
                                           x, fmt::join(w, ","), zeros),
                               ops::table());
  if (!graph) return ADD_FAILURE() << graph.error().text(), -1;
  const std::vector<ir::Segment> segments = tests::nodes_alone(**graph);
  PlanOptions options;
  options.segments = segments;
  const auto made = plan(**graph, **target_named("x86_avx512"), options);
  if (!made) return ADD_FAILURE() << made.error().text(), -1;
  for (const Group& g : made->groups)
    if (is_of_tiles(g)) return static_cast<int64_t>(std::sqrt(g.nests[0].outputs.size())) - 2;
  return 0;
}

using Definitions = std::unordered_map<Reg, const TileInstr*>;

void find_all(const TileBlock& block, Definitions& found, std::vector<const TileInstr*>& accesses) {
  for (const TileInstr& in : block) {
    if (in.result != kNone) found[in.result] = &in;
    if (in.op == TileOp::load || in.op == TileOp::store) accesses.push_back(&in);
    find_all(in.body, found, accesses);
    find_all(in.otherwise, found, accesses);
  }
}

/// A sum in which a term was chosen between two.
bool is_chosen(Reg offset, const Definitions& of) {
  const auto found = of.find(offset);
  if (found == of.end() || found->second->op != TileOp::expr) return false;
  const TileInstr& in = *found->second;
  return in.expr_op == ExprOp::select ||
         (in.expr_op == ExprOp::add && std::ranges::any_of(in.args, [&](Reg r) { return is_chosen(r, of); }));
}

/// A processor takes long to find that a mask is empty where there is no memory.
TEST(Winograd, AccessesNoMemoryOutsideOfTheImage) {
  const auto graph = ir::parse(convolution("1,16,7,7", ", pads=[1,1,1,1]", {16, 16, 3, 3}), ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto planned = planned_graph(**graph, winograd_always(), **target_named("x86_avx512"));
  ASSERT_TRUE(planned) << planned.error().text();
  size_t masked = 0;
  for (size_t g = 0; g < planned->plan.groups.size(); ++g) {
    if (!is_of_tiles(planned->plan.groups[g])) continue;
    const TileKernel& kernel = planned->kernels_by_group[g].back().tile;
    Definitions definitions;
    std::vector<const TileInstr*> accesses;
    find_all(kernel.body, definitions, accesses);
    for (const TileInstr* in : accesses) {
      if (in->mask == kNone) continue;
      ++masked;
      EXPECT_TRUE(is_chosen(in->args.back(), definitions)) << text_of(kernel);
    }
  }
  EXPECT_GT(masked, 20U);
}

TEST(Winograd, IsChosenWhereItTakesLessTime) {
  EXPECT_EQ(outputs_a_way("1,64,56,56", {64, 64, 3, 3}), 4);
  EXPECT_EQ(outputs_a_way("n,64,h,w", {64, 64, 3, 3}), 4);
  EXPECT_EQ(outputs_a_way("1,3,224,224", {32, 3, 3, 3}), 0);   // the steps between cost more than the products save
  EXPECT_EQ(outputs_a_way("1,512,4,4", {128, 512, 3, 3}), 0);  // so do the larger weights
  EXPECT_EQ(outputs_a_way("16,128,4,4", {128, 128, 3, 3}), 4);
  EXPECT_EQ(outputs_a_way("1,184,72,72", {16, 184, 3, 3}), 4);
  EXPECT_EQ(outputs_a_way("4,184,72,72", {16, 184, 3, 3}), 0) << "34 MB of factors come from memory";
}

/// The numbers of A and B, and sums of few terms, are exact.
TEST(Winograd, FilterIsExactInWholeNumbers) {
  for (const int outputs : {2, 4}) {
    const MinimalFilter f = minimal_filter(outputs);
    const int64_t size = f.size();
    std::vector<Expr> square, products;
    for (int k = 0; k < size * size; ++k) square.push_back(Expr::input(k, DType::f32));
    const auto factors = data_factors(f, square);
    const Tensor kernel = Tensor::of_f32({1, 9}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Tensor wide = *ir::materialise(*ir::product(ir::cast(ir::constant_of(kernel), DType::f64), kernel_factors(f)));
    ScalarEnvironment data;
    data.input_number = [&](int k) { return (k * 37 + 11) % 8; };
    std::vector<double> m;
    for (size_t k = 0; k < factors.size(); ++k) m.push_back(evaluate(factors[k], data, true).number * wide.number(static_cast<int64_t>(k)));
    ScalarEnvironment multiplied;
    multiplied.input_number = [&](int k) { return m[static_cast<size_t>(k)]; };
    const auto sums = sums_of_products(f, square);
    for (int i = 0; i < outputs; ++i)
      for (int j = 0; j < outputs; ++j) {
        double want = 0;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            want += data.input_number((i + a) * static_cast<int>(size) + j + b) * kernel.number(int64_t{a} * 3 + b);
        EXPECT_NEAR(evaluate(sums[static_cast<size_t>(i * outputs + j)], multiplied, false).number, want, 1e-9);
      }
  }
}

/// Errors of the root mean square against fp64, by tiles over those of the plain sum.
double error_ratio(int64_t channels) {
  const Sizes shape{8, channels, 3, 3};
  Tensor w = *Tensor::make(DType::f32, shape);
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1.0F / std::sqrt(9.0F * static_cast<float>(channels)));
  for (float& x : w.as_mutable<float>()) x = normal(random);
  ir::Graph graph(ops::table());
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, DimList{1, channels, 24, 24}));
  const ir::ValueId k = graph.add_constant(ir::constant_of(w), "w");
  ir::Attributes pads;
  pads.set("pads", ir::Ints{1, 1, 1, 1});
  const ir::NodeId node = graph.insert(*ops::table().find("", "Conv"), {x, k}, 1, pads);
  EXPECT_TRUE(ir::infer(graph, node));
  graph.add_output(graph.node(node).outputs[0]);
  const std::vector<Tensor> inputs = inputs_of(graph);
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  const auto want = ops::evaluate(graph, inputs, wide);
  double errors[2] = {};
  for (const bool tiles : {false, true}) {
    PlanOptions options = winograd_always();
    if (!tiles) options.off.insert("winograd");
    const auto planned = planned_graph(graph, options, **target_named("x86_avx2"));
    const auto got = run(*planned, inputs);
    for (int64_t i = 0; i < (*want)[0].count(); ++i) errors[tiles] += std::pow((*want)[0].number(i) - (*got)[0].number(i), 2);
  }
  return std::sqrt(errors[1] / errors[0]);
}

TEST(Winograd, ErrorsAreAtMostFourTimesThePlainSums) {
  for (const int64_t channels : {8, 64}) EXPECT_LT(error_ratio(channels), 4) << channels;
}

// --- images whose elements differ much in size

}  // namespace
}  // namespace tenon::codegen
