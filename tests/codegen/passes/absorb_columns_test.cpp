// SPDX-License-Identifier: Apache-2.0
// Maps that read a product as columns side by side: they run on its tiles, however those are cut, and give what the reference says.
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

std::string numbers(int64_t count) {
  std::string out;
  for (int64_t i = 0; i < count; ++i) out += fmt::format("{}{}", i ? ", " : "", static_cast<double>(i * 53 % 97 - 48) / 64);
  return out;
}

/// x times constant weights [24, columns * width], plus row `step` of `all`; y and z are made of its columns.
std::string graph_of(int columns, int64_t width) {
  std::string parts, sum = "p0";
  for (int c = 0; c < columns; ++c) parts += fmt::format("{}p{}", c ? ", " : "", c);
  std::string nodes;
  for (int c = 1; c < columns; ++c) {
    nodes += fmt::format("t{0} = Tanh(p{0})\n s{0} = {1}({2}, t{0})\n ", c, c % 2 ? "Mul" : "Add", sum);
    sum = fmt::format("s{}", c);
  }
  return fmt::format(R"(graph main(x: f32[n,24], all: f32[7,n,{0}], step: i64[], c: f32[n,{1}]) {{
    const w: f32[24,{0}] = [{2}]
    row = Gather(all, step, axis=0)
    product = MatMul(x, w)
    h = Add(row, product)
    {3} = Split(h, axis=1, num_outputs={4})
    {5}y = Sub({6}, c)
    e = Sigmoid(y)
    z = Add(e, p0)
    return y, z }})",
                     columns * width, width, numbers(24 * columns * width), parts, columns, nodes, sum);
}

size_t kernels_of(const PlannedGraph& planned) {
  size_t out = 0;
  for (const auto& kernels : planned.kernels_by_group) out += kernels.size();
  return out;
}

void expect_same(const PlannedGraph& planned, std::span<const Tensor> inputs, const std::vector<Tensor>& want, bool native) {
  const auto got = run(planned, inputs, native);
  ASSERT_TRUE(got) << got.error().text();
  for (size_t r = 0; r < want.size(); ++r)
    for (int64_t i = 0; i < want[r].count(); ++i)
      ASSERT_NEAR(want[r].number(i), (*got)[r].number(i), 1e-4 * std::max(1.0, std::abs(want[r].number(i))))
          << "result " << r << " element " << i << (native ? " native" : "");
}

TEST(AbsorbColumns, RunsOnTilesOfAnyShapeAndDepth) {
  for (const char* name : {"x86_avx512", "x86_avx2"}) {
    const Target& target = **target_named(name);
    const std::vector<Tile> tiles =
        target.registers >= 32 ? std::vector<Tile>{{14, 2}, {9, 3}, {6, 4}, {24, 1}} : std::vector<Tile>{{6, 2}, {4, 3}};
    for (const int columns : {2, 3, 4})
      for (const int64_t width : {16, 48})
        for (const Tile tile : tiles)
          for (const int64_t depth : {0, 8}) {
            SCOPED_TRACE(fmt::format("{} {} columns of {}, tile {}x{}, depth {}", name, columns, width, tile.rows, tile.vectors, depth));
            const auto graph = ir::parse(graph_of(columns, width), ops::table());
            ASSERT_TRUE(graph) << graph.error().text();
            const auto choose = [&](const Group& group, const Plan& plan, const Target& on) {
              Tactic tactic = usual_tactic(group, plan, on);
              if (auto* product = std::get_if<ContractTactic>(&tactic)) product->tile = tile, product->depth = depth;
              return tactic;
            };
            const auto planned = planned_graph(**graph, {.verify = true}, target, choose);
            ASSERT_TRUE(planned) << planned.error().text();
            ASSERT_EQ(kernels_of(*planned), 1u) << text_of(planned->plan);
            const int64_t n = 3, step = 5;
            const std::vector<Tensor> inputs = {*ops::random_tensor(DType::f32, {n, 24}, 1),
                                                *ops::random_tensor(DType::f32, {7, n, columns * width}, 2), Tensor::of_i64({}, {&step, 1}),
                                                *ops::random_tensor(DType::f32, {n, width}, 3)};
            const auto want = ops::evaluate(**graph, inputs);
            ASSERT_TRUE(want) << want.error().text();
            for (const bool native : {false, true})
              if (!native || cpu_features().has_all(target.needs())) expect_same(*planned, inputs, *want, native);
          }
  }
}

/// nests and contractions, as they stand in the plan.
std::string kinds_of(std::string_view text) {
  const auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return "";
  const auto planned = plan(**graph, **target_named("x86_avx512"), {.verify = true});
  EXPECT_TRUE(planned) << planned.error().text();
  std::string out;
  for (const Group& g : planned->groups) out += g.kind() == GroupKind::contract ? "c" : "n";
  return out;
}

TEST(AbsorbColumns, LeavesOtherReadersApart) {
  const auto gated = [](std::string_view weights, std::string_view rest) {
    return fmt::format(
        "graph main(x: f32[n,8]{} h = MatMul(x, w) a, b = Split(h, axis=1, num_outputs=2) s = Sigmoid(a) y = Mul(s, b) {} }}", weights,
        rest);
  };
  const std::string constant = ") { const w: f32[8,32] = [" + numbers(256) + "]",
                    narrow = ") { const w: f32[8,20] = [" + numbers(160) + "]";
  EXPECT_EQ(kinds_of(gated(constant, "return y")), "c");
  EXPECT_EQ(kinds_of(gated(narrow, "return y")), "cn");               // no whole registers
  EXPECT_EQ(kinds_of(gated(", w: f32[8,32]) {", "return y")), "cn");  // weights that only the run knows
  EXPECT_EQ(kinds_of(gated(constant, "return y, h")), "cn");
  // What reads the product waits for a sum over what the gate makes.
  EXPECT_EQ(kinds_of(gated(constant, "t = ReduceSum(y) z = Mul(t, b) e = Exp(z) return y, e")), "cnnn");
}

}  // namespace
}  // namespace tenon::codegen
