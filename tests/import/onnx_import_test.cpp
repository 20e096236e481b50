// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "model_bytes.h"

namespace tenon::import::testing {
namespace {

#define ASSERT_IMPORTS(imported)                      \
  ASSERT_TRUE(imported) << imported.error().text();   \
  {                                                   \
    auto verified = ir::verify(*imported->graph);     \
    ASSERT_TRUE(verified) << verified.error().text(); \
  }

size_t count(const ir::Graph& graph, std::string_view op) {
  size_t n = 0;
  for (ir::NodeId id : graph.nodes()) n += graph.node(id).is(op);
  return n;
}

GraphBytes matmul_add() {
  const float w[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 1};
  GraphBytes g;
  g.input("x", DType::f32, {"batch", "3"}).initializer(tensor_f32("w", {3, 2}, w)).initializer(tensor_f32("b", {2}, b));
  g.node(node("MatMul", {"x", "w"}, {"h"})).node(node("Add", {"h", "b"}, {"y"})).output("y", DType::f32, {"batch", "2"});
  return g;
}

TEST(OnnxImport, ReadsNodesConstantsAndSymbols) {
  auto m = import_bytes(model(matmul_add()));
  ASSERT_IMPORTS(m);
  const ir::Graph& g = *m->graph;
  EXPECT_EQ(g.node_count(), 2u);
  ASSERT_EQ(g.inputs().size(), 1u);
  EXPECT_EQ(g.value(g.inputs()[0]).type.text(), "f32[batch,3]");
  const ir::Value& y = g.value(g.outputs()[0]);
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.type.text(), "f32[batch,2]");
  const Tensor* w = g.tensor_of(g.find_value("w"));
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->number(5), 6);
  EXPECT_EQ(m->opsets[0].second, 17);
}

TEST(OnnxImport, ARequestedShapeFixesTheSymbolEverywhere) {
  GraphBytes g;
  g.input("a", DType::f32, {"n", "4"})
      .input("b", DType::f32, {"n", "4"})
      .node(node("Add", {"a", "b"}, {"y"}))
      .output("y", DType::f32, {"n", "4"});
  auto m = import_bytes(model(g), {.external_data_dir = {}, .limits = {}, .shapes = {{"a", {{8, {}}, {}}}}});
  ASSERT_IMPORTS(m);
  EXPECT_EQ(m->graph->value(m->graph->inputs()[1]).type.text(), "f32[8,4]");
  auto other = import_bytes(model(g), {.external_data_dir = {}, .limits = {}, .shapes = {{"a", {{8, {}}, {5, {}}}}}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::bad_input);
  auto unknown = import_bytes(model(g), {.external_data_dir = {}, .limits = {}, .shapes = {{"q", {{8, {}}, {}}}}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error()->expected, "one of: a, b");
}

TEST(OnnxImport, SelectedOutputsStayInTheModelsOrder) {
  GraphBytes g;
  g.input("x", DType::f32, {"n"}).node(node("Relu", {"x"}, {"a"})).node(node("Neg", {"x"}, {"b"})).node(node("Abs", {"x"}, {"c"}));
  for (const char* name : {"a", "b", "c"}) g.output(name, DType::f32, {"n"});
  import::ImportOptions options;
  options.outputs = {"c", "a"};
  const auto m = import_bytes(model(g), options);
  ASSERT_IMPORTS(m);
  ASSERT_EQ(m->graph->outputs().size(), 2u);
  EXPECT_EQ(m->graph->output_name(0) + m->graph->output_name(1), "ac");
  options.outputs = {"q"};
  const auto unknown = import_bytes(model(g), options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error()->expected, "a, b, c");
}

TEST(OnnxImport, ARequestedIntervalBoundsTheSymbolEverywhere) {
  GraphBytes g;
  g.input("a", DType::f32, {"n", "4"}).input("b", DType::f32, {"n", "4"}).input("c", DType::f32, {"n + 1"});
  g.node(node("Add", {"a", "b"}, {"y"})).output("y", DType::f32, {"n", "4"});
  const auto with = [&](std::string input, import::SizeInterval rows, import::SizeInterval columns) {
    return import_bytes(model(g),
                        {.external_data_dir = {}, .limits = {}, .shapes = {{std::move(input), {{{}, {}, rows}, {{}, {}, columns}}}}});
  };
  auto m = with("a", {2, 3, 9}, {1, 4, 8});
  ASSERT_IMPORTS(m);
  const ir::Type& y = m->graph->value(m->graph->outputs()[0]).type;
  EXPECT_EQ(y.text(), "f32[n,4]");
  EXPECT_EQ(y.dim(0).lower(), 2);
  EXPECT_EQ(y.dim(0).upper(), 9);
  EXPECT_EQ(with("a", {2, 1, 9}, {4, 4, 4}).error().code(), Code::bad_input);
  EXPECT_EQ(with("a", {2, 2, 9}, {5, 5, 6}).error().code(), Code::bad_input) << "the model says 4";
  auto computed =
      import_bytes(model(g), {.external_data_dir = {}, .limits = {}, .shapes = {{"c", {{{}, {}, import::SizeInterval{1, 2, 3}}}}}});
  ASSERT_FALSE(computed);
  EXPECT_EQ(computed.error().code(), Code::not_supported);
  auto apart = import_bytes(
      model(g), {.external_data_dir = {},
                 .limits = {},
                 .shapes = {{"a", {{{}, {}, import::SizeInterval{1, 2, 3}}, {}}}, {"b", {{{}, {}, import::SizeInterval{4, 5, 6}}, {}}}}});
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.error().code(), Code::bad_input);
}

TEST(OnnxImport, SumsOfNamesArePolynomials) {
  GraphBytes g;
  g.input("m", DType::f32, {"past + seq"}).input("p", DType::f32, {"past"}).input("s", DType::f32, {"seq"});
  g.node(node("Concat", {"p", "s"}, {"c"}, {attribute("axis", int64_t{0})}))
      .node(node("Add", {"c", "m"}, {"y"}))
      .output("y", DType::f32, {"t"});
  auto m = import_bytes(model(g));
  ASSERT_IMPORTS(m);
  const ir::Graph& graph = *m->graph;
  EXPECT_TRUE(graph.value(graph.outputs()[0]).type.dim(0).known_equal(graph.value(graph.inputs()[0]).type.dim(0)));
}

TEST(OnnxImport, DataDependentSizesTakeDeclaredNames) {
  GraphBytes g;
  g.input("x", DType::f32, {"n", "4"});
  for (const char* k : {"1", "2"})
    g.node(node("NonZero", {"x"}, {std::string("z") + k})).node(node("Neg", {std::string("z") + k}, {std::string("y") + k}));
  // One name is one size: the second that is declared so keeps its own; a size of an input is none that data tells.
  g.output("y1", DType::i64, {"2", "found"}).output("y2", DType::i64, {"2", "found"});
  g.node(node("Relu", {"x"}, {"r"})).output("r", DType::f32, {"rows", "4"});
  auto m = import_bytes(model(g));
  ASSERT_IMPORTS(m);
  const ir::Graph& graph = *m->graph;
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "i64[2,found]");
  EXPECT_EQ(graph.value(graph.find_value("z1")).type.text(), "i64[2,found]");
  EXPECT_FALSE(graph.value(graph.outputs()[1]).type.dim(1).known_equal(graph.value(graph.outputs()[0]).type.dim(1)));
  EXPECT_EQ(graph.value(graph.outputs()[2]).type.text(), "f32[n,4]");
}

TEST(OnnxImport, NodesOutOfOrderAreSortedAndCyclesRefused) {
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Relu", {"h"}, {"y"})).node(node("Neg", {"x"}, {"h"})).output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_IMPORTS(m);
  EXPECT_TRUE(m->graph->node(m->graph->first()).is("Neg"));
  GraphBytes c;
  c.input("x", DType::f32, {"2"}).node(node("Add", {"x", "b"}, {"a"})).node(node("Relu", {"a"}, {"b"})).output("b", DType::f32, {"2"});
  auto cycle = import_bytes(model(c));
  ASSERT_FALSE(cycle);
  EXPECT_EQ(cycle.error().code(), Code::bad_graph);
  EXPECT_EQ(cycle.error()->what, "the graph has a cycle");
}

TEST(OnnxImport, WrongNamesAreErrorsAtTheirNode) {
  GraphBytes unknown;
  unknown.input("x", DType::f32, {"2"}).node(node("Relu", {"z"}, {"y"}, {}, {}, "r1")).output("y", DType::f32, {"2"});
  auto a = import_bytes(model(unknown));
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().code(), Code::bad_graph);
  EXPECT_EQ(a.error()->place, "node 'r1' (Relu)");
  GraphBytes twice;
  twice.input("x", DType::f32, {"2"}).node(node("Relu", {"x"}, {"y"})).node(node("Neg", {"x"}, {"y"})).output("y", DType::f32, {"2"});
  auto b = import_bytes(model(twice));
  ASSERT_FALSE(b);
  EXPECT_EQ(b.error().code(), Code::bad_graph);
  GraphBytes shadow;
  shadow.input("x", DType::f32, {"2"}).node(node("Relu", {"x"}, {"x"})).output("x", DType::f32, {"2"});
  EXPECT_FALSE(import_bytes(model(shadow)));
}

TEST(OnnxImport, AllUnsupportedOpsAreListedOnce) {
  GraphBytes g;
  g.input("x", DType::f32, {"2"})
      .node(node("Frob", {"x"}, {"a"}))
      .node(node("Frob", {"a"}, {"b"}))
      .node(node("Quux", {"b"}, {"y"}, {}, "com.example"));
  g.output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::not_supported);
  EXPECT_EQ(m.error()->found, "Frob (2x), com.example::Quux (1x)");
}

TEST(OnnxImport, InputsWithInitializersAreConstants) {
  GraphBytes g = matmul_add();
  g.input("w", DType::f32, {"3", "2"}).input("b", DType::f32, {"2"});
  auto m = import_bytes(model(g, 8, {}, 3));
  ASSERT_IMPORTS(m);
  EXPECT_EQ(m->graph->inputs().size(), 1u);
  EXPECT_TRUE(m->warnings.empty());
}

TEST(OnnxImport, BodiesCaptureOuterValuesAndShareConstants) {
  const float k[] = {2, 3};
  GraphBytes inner, then_branch, else_branch, g;
  inner.node(node("Mul", {"x", "k"}, {"deep"})).output("deep", DType::f32, {"2"});
  then_branch.node(
      node("If", {"c"}, {"t"}, {graph_attribute_message("then_branch", inner.bytes), graph_attribute_message("else_branch", inner.bytes)}));
  then_branch.output("t", DType::f32, {"2"});
  else_branch.node(node("Neg", {"x"}, {"e"})).output("e", DType::f32, {"2"});
  g.input("c", DType::boolean, {}).input("x", DType::f32, {"2"}).initializer(tensor_f32("k", {2}, k));
  g.node(node("If", {"c"}, {"y"},
              {graph_attribute_message("then_branch", then_branch.bytes), graph_attribute_message("else_branch", else_branch.bytes)}));
  g.output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_IMPORTS(m);
  const ir::Graph& graph = *m->graph;
  const ir::Node& outer = graph.node(graph.first());
  ASSERT_EQ(outer.bodies.size(), 2u);
  EXPECT_EQ(outer.bodies[0].captures, 2u);  // c and x, for the If within
  EXPECT_EQ(outer.bodies[1].captures, 1u);
  EXPECT_EQ(outer.inputs.size(), 4u);
  const ir::Graph& body = *outer.bodies[0].graph;
  const ir::Node& nested = body.node(body.first());
  EXPECT_EQ(nested.bodies[0].captures, 1u);  // x: k is a constant, shared
  EXPECT_TRUE(nested.bodies[0].graph->find_value("k"));
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[2]");
}

TEST(OnnxImport, LoopsKeepTheSizesThatNoIterationChanges) {
  GraphBytes body, g;
  body.input("i", DType::i64, {}).input("go", DType::boolean, {}).input("same", DType::f32, {"2"}).input("grows", DType::f32, {"1"});
  body.node(node("Identity", {"go"}, {"go2"})).node(node("Neg", {"same"}, {"same2"}));
  body.node(node("Concat", {"grows", "same"}, {"grows2"}, {attribute("axis", int64_t{0})}));
  body.output("go2", DType::boolean, {}).output("same2", DType::f32, {"2"}).output("grows2", DType::f32, {""});
  g.input("n", DType::i64, {}).input("a", DType::f32, {"2"}).input("b", DType::f32, {"1"});
  g.node(node("Loop", {"n", "", "a", "b"}, {"s", "r"}, {graph_attribute_message("body", body.bytes)}));
  g.output("s", DType::f32, {"2"}).output("r", DType::f32, {""});
  auto m = import_bytes(model(g));
  ASSERT_IMPORTS(m);
  const ir::Graph& graph = *m->graph;
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.text(), "f32[2]");
  const ir::Type& grown = graph.value(graph.outputs()[1]).type;
  ASSERT_TRUE(grown.has_rank());
  EXPECT_FALSE(grown.dim(0).is_number());
}

TEST(OnnxImport, FunctionsAreExpandedWithTheirAttributes) {
  using schema::AttributeType;
  FunctionBytes scale(
      "local", "Scale", {"a", "unused"}, {"r"},
      {node("Constant", {}, {"k"}, {reference_attribute("value_float", "factor", AttributeType::number)}), node("Mul", {"a", "k"}, {"r"})},
      {"factor"});
  FunctionBytes twice("local", "Twice", {"a"}, {"r"},
                      {node("Scale", {"a"}, {"h"}, {attribute("factor", 3.0f)}, "local"),
                       node("Scale", {"h"}, {"r"}, {attribute("factor", 5.0f)}, "local")});
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Twice", {"x"}, {"y"}, {}, "local")).output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g, 17, {scale, twice}));
  ASSERT_IMPORTS(m);
  EXPECT_EQ(count(*m->graph, "Mul"), 2u);
  EXPECT_EQ(m->graph->value(m->graph->outputs()[0]).name, "y");
  const ir::Node& last = m->graph->node(m->graph->last());
  EXPECT_EQ(m->graph->tensor_of(last.inputs[1])->number(0), 5);
}

TEST(OnnxImport, FunctionsThatCallThemselvesAreRefused) {
  FunctionBytes self("local", "Self", {"a"}, {"r"}, {node("Self", {"a"}, {"r"}, {}, "local")});
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Self", {"x"}, {"y"}, {}, "local")).output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g, 17, {self}));
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::limit_exceeded);
}

TEST(OnnxImport, AFunctionThatPassesItsInputOnKeepsTheOutputName) {
  FunctionBytes pass("local", "Pass", {"a"}, {"a"}, {});
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Pass", {"x"}, {"y"}, {}, "local")).output("y", DType::f32, {"2"});
  auto m = import_bytes(model(g, 17, {pass}));
  ASSERT_IMPORTS(m);
  EXPECT_EQ(m->graph->output_name(0), "y");
}

TEST(OnnxImport, OldFormsAreUpgraded) {
  GraphBytes g;
  g.input("x", DType::f32, {"2", "3", "4"}).node(node("Softmax", {"x"}, {"s"}, {attribute("axis", int64_t{1})}));
  g.node(node("Squeeze", {"u"}, {"y"}, {attribute("axes", ir::Ints{0})}))
      .node(node("Unsqueeze", {"s"}, {"u"}, {attribute("axes", ir::Ints{0})}));
  g.output("y", DType::f32, {"2", "3", "4"});
  auto m = import_bytes(model(g, 9));
  ASSERT_IMPORTS(m);
  EXPECT_EQ(m->graph->value(m->graph->outputs()[0]).type.text(), "f32[2,3,4]");
  EXPECT_EQ(m->graph->output_name(0), "y");
}

TEST(OnnxImport, ADeclaredOutputTypeThatIsWrongIsAnError) {
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Relu", {"x"}, {"y"})).output("y", DType::i64, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::dtype_mismatch);
}

}  // namespace
}  // namespace tenon::import::testing
