// SPDX-License-Identifier: Apache-2.0
// Graphs of thousands of point-wise nodes become kernels of bounded size, none of which computes anything twice.
#include <gtest/gtest.h>

#include <set>

#include "../segments.h"
#include "chain_graphs.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/llvm/emit.h"
#include "codegen/lower/kernel.h"
#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

struct Planned {
  std::unique_ptr<ir::Graph> graph;
  Plan plan;
};

Planned planned(const std::string& text) {
  Planned out;
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return out;
  const std::vector<ir::Segment> segments = tests::nodes_alone(**graph);
  auto made = plan(**graph, **target_named("x86_avx512"), {.segments = segments});
  EXPECT_TRUE(made) << made.error().text();
  out.graph = std::move(*graph);
  if (made) out.plan = std::move(*made);
  return out;
}

/// Every body of the plan, epilogues too.
template <class F>
void each_body(const Plan& plan, F f) {
  for (const Group& g : plan.groups) {
    for (const Nest& n : g.nests) f(n);
    if (g.epilogue) f(g.epilogue->map);
  }
}

void expect_bounded(const Text& t, size_t most_groups) {
  const Planned p = planned(t.text);
  EXPECT_LE(p.plan.groups.size(), most_groups);
  size_t computed = 0;
  each_body(p.plan, [&](const Nest& n) {
    EXPECT_TRUE(within_budget(n)) << text_of(n, p.plan);
    computed += n.nodes.size();
  });
  EXPECT_GE(computed, t.nodes);
  EXPECT_LE(computed, t.nodes + t.nodes / 4) << "cheap bodies alone are computed where they are read, more than once";
}

TEST(Chain, LongChainsBecomeKernelsOfBoundedSize) {
  expect_bounded(chain(5000, 1), 5000 / 8);
  expect_bounded(chain(5000, 1000), 1600);
}

TEST(Chain, TreesBecomeKernelsOfBoundedSize) { expect_bounded(tree(2048), 2048 / 4); }

TEST(Chain, EpiloguesHaveBoundedSize) {
  std::string text = "graph main(x: f32[8,64], w: f32[64,64], b: f32[64]) {\n  v0 = MatMul(x, w)\n";
  for (int k = 1; k <= 500; ++k)
    text += "  v" + std::to_string(k) + " = " + (k % 7 ? "Add(v" : "Tanh(v") + std::to_string(k - 1) + (k % 7 ? ", b)" : ")") + "\n";
  const Planned p = planned(text + "  return v500\n}");
  each_body(p.plan, [&](const Nest& n) { EXPECT_TRUE(within_budget(n)) << text_of(n, p.plan); });
  EXPECT_LE(p.plan.groups.size(), 40u);
  EXPECT_EQ(p.plan.groups[0].kind(), GroupKind::contract);
}

/// What LLVM compiles grows with the nodes and not faster: its time for one function does.
TEST(Chain, TileCodeGrowsLinearly) {
  size_t registers = 0, most = 0;
  Planned p = planned(chain(3000, 1).text);
  for (const Group& g : p.plan.groups) {
    auto kernel = lower_nests(g, default_loop_tactic(), p.plan, **target_named("x86_avx2"));
    ASSERT_TRUE(kernel) << kernel.error().text();
    registers += kernel->tile.registers.size();
    most = std::max(most, kernel->tile.registers.size());
  }
  EXPECT_LE(most, 400u);
  EXPECT_LE(registers, 3000u * 8);
}

/// Three hundred results are as many kernels, each with functions of its own: they call those, or the code would be mostly their copies.
TEST(Chain, MachineCodeOfManyResultsGrowsLinearly) {
  const Text t = chain(3000, 300);
  Planned p = planned(t.text);
  std::vector<TileKernel> kernels;
  for (const Group& g : p.plan.groups) kernels.push_back(lower_nests(g, default_loop_tactic(), p.plan, **target_named("x86_avx2"))->tile);
  const auto code = emit(kernels, **target_named("x86_avx2"));
  ASSERT_TRUE(code) << code.error().text();
  EXPECT_LE(code->bytes.size(), t.nodes * 64);
}

/// A repeated block is generated once, wherever the budget cuts it.
TEST(Chain, EqualBlocksShareKernels) {
  std::string text = "graph main(x: f32[4,64], w: f32[64]) {\n";
  std::string last = "x";
  for (int k = 0; k < 3000; ++k) {
    const std::string name = "v" + std::to_string(k);
    text += "  " + name + " = " + (k % 3 == 0 ? "Tanh(" + last + ")" : (k % 3 == 1 ? "Mul(" : "Add(") + last + ", w)") + "\n";
    last = name;
  }
  Planned p = planned(text + "  return " + last + "\n}");
  std::set<std::string> distinct;
  for (const Group& g : p.plan.groups)
    distinct.insert(text_of(lower_nests(g, default_loop_tactic(), p.plan, **target_named("x86_avx2"))->tile));
  EXPECT_LE(distinct.size(), 4u) << "of " << p.plan.groups.size();
}

TEST(Budget, CountsLiveValues) {
  const auto live = [](const std::string& body) {
    const Planned p = planned("graph main(x: f32[8], y: f32[8]) { " + body + " }");
    EXPECT_EQ(p.plan.groups.size(), 1u);
    return max_live_values(p.plan.groups[0].nests[0]);
  };
  EXPECT_EQ(live("a = Neg(x) return a"), 2);  // x, and what is made of it
  EXPECT_EQ(live("a = Neg(x) b = Exp(a) c = Neg(b) return c"), 2);
  EXPECT_EQ(live("a = Add(x, y) return a"), 3);
  EXPECT_EQ(live("a = Exp(x) b = Sin(y) c = Mul(a, b) return c"), 3);
}

}  // namespace
}  // namespace tenon::codegen
