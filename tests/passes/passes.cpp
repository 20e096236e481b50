// SPDX-License-Identifier: Apache-2.0
#include "passes/passes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "passes/pipeline.h"
#include "passes/rules_of.h"

namespace tenon::tests {
namespace {

using passes::Context;
using passes::Options;

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  if (!graph) ADD_FAILURE() << graph.error().text();
  return graph ? std::move(*graph) : std::make_unique<ir::Graph>(ops::table());
}

std::string ops_of(const ir::Graph& graph) {
  std::string out;
  for (ir::NodeId n : graph.nodes()) out += (out.empty() ? "" : " ") + graph.node(n).op->name;
  return out;
}

/// Runs one pass, verifies the graph, and returns whether the pass reports a change.
bool run(Result<bool> (*pass)(ir::Graph&, Context&), ir::Graph& graph, const rewrite::NameSet& keep = {}) {
  Options options;
  options.rewriting.keep = keep;
  passes::Report report;
  Context context{options, report, options.rewriting.stop_after, *passes::rules_of(options, graph.ops())};
  auto changed = pass(graph, context);
  if (!changed) ADD_FAILURE() << changed.error().text();
  auto ok = ir::verify(graph);
  if (!ok) ADD_FAILURE() << ok.error().text();
  return changed && *changed;
}

TEST(DeadCode, ErasesChainsAndConstants) {
  auto g = graph_of(
      "graph main(x: f32[4]) {\n const c: f32[4] = [1, 2, 3, 4]\n a = Add(x, c)\n b = Neg(a)\n y = Relu(x)\n"
      " return y\n}\n");
  EXPECT_TRUE(run(passes::dead_code, *g));
  EXPECT_EQ(ops_of(*g), "Relu");
  EXPECT_FALSE(g->find_value("c"));
  EXPECT_FALSE(run(passes::dead_code, *g));
}

TEST(DeadCode, LeavesWhatIsKeptByName) {
  auto g = graph_of("graph main(x: f32[4]) {\n a = Abs(x)\n b = Neg(a)\n y = Relu(x)\n return y\n}\n");
  EXPECT_TRUE(run(passes::dead_code, *g, {"a"}));
  EXPECT_EQ(ops_of(*g), "Abs Relu");
}

TEST(CommonSubexpressions, LeavesWhatIsKeptByName) {
  const char* text = "graph main(x: f32[4]) {\n a = Abs(x)\n b = Abs(x)\n y = Add(a, b)\n return y\n}\n";
  auto joined = graph_of(text), kept = graph_of(text);
  EXPECT_TRUE(run(passes::common_subexpressions, *joined));
  EXPECT_EQ(ops_of(*joined), "Abs Add");
  EXPECT_FALSE(run(passes::common_subexpressions, *kept, {"b"}));
  EXPECT_EQ(ops_of(*kept), "Abs Abs Add");
}

TEST(ShapeArithmetic, LeavesWhatIsKeptByName) {
  const char* text = "graph main(x: f32[4,2]) {\n s = Shape(x)\n y = Cast(s, to=1)\n return y\n}\n";
  auto known = graph_of(text), kept = graph_of(text);
  EXPECT_TRUE(run(passes::shape_arithmetic, *known));
  EXPECT_EQ(ops_of(*known), "Cast");
  EXPECT_FALSE(run(passes::shape_arithmetic, *kept, {"s"}));
  EXPECT_EQ(ops_of(*kept), "Shape Cast");
}

TEST(SinkConstants, MovesThemIntoTheBodiesThatUseThem) {
  auto g = graph_of(R"(graph main(n: i64[], x: f32[2]) {
    const w: f32[2] = [3, 4]
    y = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[2], m: f32[2], k: f32[2]) {
      a = Mul(v, m) b = Add(a, k) return c, b } } captures=[w, x]
    return y })");
  EXPECT_TRUE(run(passes::sink_constants, *g));
  const ir::Node& loop = g->node(g->first());
  ASSERT_EQ(loop.bodies[0].captures, 1u);
  const ir::Graph& body = *loop.bodies[0].graph;
  EXPECT_EQ(body.inputs().size(), 4u);
  EXPECT_TRUE(body.value(body.node(body.first()).inputs[1]).is_constant());
  EXPECT_FALSE(run(passes::sink_constants, *g));
}

TEST(FoldConstants, ComputesSmallNodes) {
  auto g = graph_of(
      "graph main(x: f32[2]) {\n const a: f32[2] = [1, 2]\n const b: f32[2] = [3, 4]\n c = Add(a, b)\n d = Neg(c)\n y ="
      " Mul(x, d)\n return y\n}\n");
  EXPECT_TRUE(run(passes::fold_constants, *g));
  ASSERT_EQ(ops_of(*g), "Mul");
  const Tensor* t = g->tensor_of(g->node(g->first()).inputs[1]);
  ASSERT_NE(t, nullptr);
  EXPECT_EQ(t->number(0), -4);
  EXPECT_EQ(t->number(1), -6);
}

/// A graph y = x MatMul op(w) with a weight of 1 MiB.
std::unique_ptr<ir::Graph> large(std::string_view op, std::vector<std::pair<std::string, ir::Attribute>> attributes = {}) {
  auto g = std::make_unique<ir::Graph>(ops::table());
  const ir::ValueId w = g->add_constant(ir::constant_of(*Tensor::make(DType::f32, {512, 512})));
  const ir::ValueId x = g->add_input("x", ir::Type(DType::f32, {4, 512}));
  ir::Builder build(*g);
  g->add_output(build("MatMul", {x, build(op, {w}, std::move(attributes))}));
  return g;
}

TEST(FoldConstants, UsersLearnShapesFromWhatWasFolded) {
  auto g = graph_of(
      "graph main(x: f32[2,3]) {\n const a: f32[4] = [0, 1, 0, 0]\n r = Sqrt(a)\n p = Cast(r, to=7)\n"
      " e = Pad(x, p)\n y = Relu(e)\n return y\n}\n");
  EXPECT_FALSE(g->value(g->outputs()[0]).type.is_static());
  EXPECT_TRUE(run(passes::fold_constants, *g));
  EXPECT_EQ(g->value(g->outputs()[0]).type.text(), "f32[2,4]");
}

TEST(FoldConstants, KeepsLargeResultsLazy) {
  auto g = large("Transpose", {{"perm", ir::Ints{1, 0}}});
  EXPECT_TRUE(run(passes::fold_constants, *g));
  ASSERT_EQ(ops_of(*g), "MatMul");
  const ir::Value& w = g->value(g->node(g->first()).inputs[1]);
  ASSERT_TRUE(w.is_constant());
  EXPECT_FALSE(w.constant->is_plain());
}

TEST(FoldConstants, LeavesLargeResultsThatNoExpressionSays) {
  auto g = large("Exp");
  EXPECT_FALSE(run(passes::fold_constants, *g));
  EXPECT_EQ(ops_of(*g), "Exp MatMul");
}

TEST(FoldConstants, LeavesRandomNodes) {
  auto g = graph_of("graph main(x: f32[2]) {\n r = RandomNormal(shape=[2])\n y = Mul(x, r)\n return y\n}\n");
  EXPECT_FALSE(run(passes::fold_constants, *g));
}

TEST(ShapeArithmetic, KnownNumbersBecomeConstants) {
  auto g = graph_of(
      "graph main(x: f32[b,4,8]) {\n s = Shape(x, start=1)\n const two: i64[1] = [2]\n d = Div(s, two)\n const m: i64[1] ="
      " [-1]\n t = Concat(m, d, axis=0)\n y = Reshape(x, t)\n "
      "return y\n}\n");
  EXPECT_TRUE(run(passes::shape_arithmetic, *g));
  EXPECT_EQ(ops_of(*g), "Reshape");
}

TEST(ShapeArithmetic, SymbolicSizesStay) {
  auto g = graph_of("graph main(x: f32[b,4]) {\n s = Shape(x)\n y = Cast(s, to=1)\n return y\n}\n");
  EXPECT_FALSE(run(passes::shape_arithmetic, *g));
  EXPECT_EQ(ops_of(*g), "Shape Cast");
}

TEST(CommonSubexpressions, JoinsEqualNodesAndConstants) {
  auto g = graph_of(
      "graph main(x: f32[2]) {\n const a: f32[2] = [1, 2]\n const b: f32[2] = [1, 2]\n c = Add(x, a)\n d = Add(b, x)\n e ="
      " Sub(x, a)\n f = Sub(a, x)\n p = Mul(c, d)\n q = Mul(e, f)\n y = Add(p, q)\n "
      "return y\n}\n");
  EXPECT_TRUE(run(passes::common_subexpressions, *g));
  EXPECT_EQ(ops_of(*g), "Add Sub Sub Mul Mul Add");
}

TEST(CommonSubexpressions, DifferentAttributesStayApart) {
  auto g = graph_of("graph main(x: f32[2,2]) {\n a = Softmax(x, axis=0)\n b = Softmax(x, axis=1)\n y = Add(a, b)\n return y\n}\n");
  EXPECT_FALSE(run(passes::common_subexpressions, *g));
}

TEST(CommonSubexpressions, KeepsTheNamesOfTwoEqualOutputs) {
  auto g = graph_of("graph main(x: f32[2]) {\n a = Relu(x)\n b = Relu(x)\n return a, b\n}\n");
  EXPECT_TRUE(run(passes::common_subexpressions, *g));
  EXPECT_EQ(ops_of(*g), "Relu");
  EXPECT_EQ(g->output_name(0), "a");
  EXPECT_EQ(g->output_name(1), "b");
}

constexpr std::string_view kLayer =
    "graph main(x: f32[b,s,4]) {\n"
    "  const w: f32[4,4] = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]\n  const c: f32[] = [1.41421354]\n  const one: f32[] ="
    " [1]\n  const half: f32[] = [0.5]\n"
    "  i = Identity(x)\n  m = MatMul(i, w)\n  d = Div(m, c)\n  e = Erf(d)\n  a = Add(e, one)\n  p = Mul(m, a)\n  y = Mul(p,"
    " half)\n  return y\n}\n";

TEST(Pipeline, LevelZeroRewritesNothing) {
  auto g = graph_of(kLayer);
  Options options;
  options.level = 0;
  options.verify = true;
  auto report = passes::optimise(*g, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(ops_of(*g), "Identity MatMul Div Erf Add Mul Mul");
}

TEST(Pipeline, LevelTwoFuses) {
  auto g = graph_of(kLayer);
  Options options;
  options.verify = true;
  auto report = passes::optimise(*g, options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(ops_of(*g), "MatMul Gelu");
  EXPECT_EQ(report->nodes_before, 7);
  EXPECT_EQ(report->nodes_after, 2);
}

TEST(Pipeline, RulesAndPassesCanBeSwitchedOff) {
  auto g = graph_of(kLayer);
  Options options;
  options.verify = true;
  options.disabled = {"fuse/activation", "identity"};
  ASSERT_TRUE(passes::optimise(*g, options));
  EXPECT_NE(ops_of(*g).find("Erf"), std::string::npos);
  EXPECT_NE(ops_of(*g).find("Identity"), std::string::npos);
}

TEST(Pipeline, ASecondRunChangesNothing) {
  auto g = graph_of(kLayer);
  ASSERT_TRUE(passes::optimise(*g));
  const std::string once = ir::print(*g);
  auto report = passes::optimise(*g);
  ASSERT_TRUE(report);
  for (const auto& pass : report->passes) EXPECT_FALSE(pass.changed) << pass.name;
  EXPECT_EQ(ir::print(*g), once);
}

TEST(Pipeline, APassIsNotRepeatedWhereNothingChanged) {
  auto g = graph_of("graph main(x: f32[4]) {\n  y = Sin(x)\n  return y\n}\n");
  auto report = passes::optimise(*g);
  ASSERT_TRUE(report);
  EXPECT_EQ(std::ranges::count(report->passes, "common_subexpressions", &passes::PassReport::name), 1);
  auto changing = graph_of(kLayer);
  report = passes::optimise(*changing);
  ASSERT_TRUE(report);
  EXPECT_EQ(std::ranges::count(report->passes, "common_subexpressions", &passes::PassReport::name), 3);
}

TEST(Pipeline, IsCancelled) {
  auto g = graph_of(kLayer);
  Options options;
  options.rewriting.cancelled = [] { return true; };
  auto report = passes::optimise(*g, options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::cancelled);
}

TEST(Pipeline, DequantizesConstantsThatNoRuleTakesAsBytes) {
  auto graph = graph_of(R"(graph main(x: f32[b,2], q: u8[b,2]) {
    const w: i8[2,3] = [1, 2, 3, 4, 5, 6]
    const s: f32[] = [0.5]
    d = DequantizeLinear(w, s)
    y = MatMul(x, d)
    dq = DequantizeLinear(q, s)
    z = MatMul(dq, d)
    return y, z
  })");
  ASSERT_TRUE(passes::optimise(*graph, Options{}));
  EXPECT_EQ(ops_of(*graph), "MatMul MatMulInteger Cast Mul");
  auto plain = graph_of(
      "graph main(q: u8[b,2]) { const w: i8[2,3] = [1, 2, 3, 4, 5, 6] const s: f32[] = [0.5] d = DequantizeLinear(w, s) "
      "dq = DequantizeLinear(q, s) z = MatMul(dq, d) return z }");
  Options first;
  first.level = 1;
  ASSERT_TRUE(passes::optimise(*plain, first));
  EXPECT_EQ(ops_of(*plain), "DequantizeLinear MatMul");
}

}  // namespace
}  // namespace tenon::tests
