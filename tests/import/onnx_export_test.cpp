// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "import/onnx_export.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "model_bytes.h"
#include "ops/core/op.h"

namespace tenon::import::testing {
namespace {

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto g = ir::parse(text, ops::table());
  EXPECT_TRUE(g) << g.error().text();
  return g ? *std::move(g) : nullptr;
}

Result<Imported> again(const ir::Graph& graph, const ExportOptions& options = {}) {
  return import_bytes(TRY(export_onnx_bytes(graph, options)));
}

TEST(OnnxExport, WhatIsWrittenIsReadBack) {
  auto g = graph_of(R"(graph main(x: f32[batch,3]) {
  const w: f32[3,2] = [1, 2, 3, 4, 5, 6]
  h = MatMul(x, w)
  s = Softmax(h, axis=1)
  y = Transpose(s, perm=[1, 0])
  return y
})");
  ASSERT_TRUE(g);
  auto m = again(*g);
  ASSERT_TRUE(m) << m.error().text();
  ASSERT_TRUE(ir::verify(*m->graph));
  EXPECT_EQ(m->graph->node_count(), 3u);
  EXPECT_EQ(m->graph->value(m->graph->outputs()[0]).type.text(), "f32[2,batch]");
  EXPECT_EQ(m->graph->output_name(0), "y");
  EXPECT_EQ(m->graph->tensor_of(m->graph->find_value("w"))->number(4), 5);
}

TEST(OnnxExport, NodeMetadataIsKeptAndNamesTheRule) {
  auto g = graph_of("graph main(x: f32[4]) {\n a = Neg(x)\n y = Abs(a)\n return y\n}\n");
  ASSERT_TRUE(g);
  g->set_provenance(g->first(), std::make_shared<const ir::Provenance>(ir::Provenance{"", {}, {{"line", "model.py:7"}}}));
  g->set_provenance(g->last(), std::make_shared<const ir::Provenance>(ir::Provenance{"neg_abs", {"p", "q"}, {{"line", "model.py:9"}}}));
  const std::string bytes = *export_onnx_bytes(*g);
  ImportOptions options;
  options.metadata = true;
  auto m = import_onnx(std::as_bytes(std::span(bytes)), nullptr, options);
  ASSERT_TRUE(m) << m.error().text();
  using Entries = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(m->graph->node(m->graph->first()).provenance->metadata, (Entries{{"line", "model.py:7"}}));
  EXPECT_EQ(m->graph->node(m->graph->last()).provenance->metadata,
            (Entries{{"line", "model.py:9"}, {"tenon.rule", "neg_abs"}, {"tenon.sources", "p, q"}}));
  EXPECT_EQ(import_bytes(bytes)->graph->node(m->graph->first()).provenance, nullptr);
}

TEST(OnnxExport, SequencesAndOptionalsKeepTheirTypes) {
  auto g = graph_of(R"tn(graph main(s: seq(f32[2,n]), o: optional(i64[3]), q: optional(seq(f32[*])), x: f32[2,4]) {
  e = Optional(type="seq(f32[5])")
  f = Optional(x)
  t = SequenceInsert(s, x)
  g = Identity(q)
  h = OptionalHasElement(o)
  return e, f, t, g, h
})tn");
  ASSERT_TRUE(g);
  auto m = again(*g);
  ASSERT_TRUE(m) << m.error().text();
  const auto type = [&](size_t k, bool input) { return m->graph->value((input ? m->graph->inputs() : m->graph->outputs())[k]).type; };
  EXPECT_EQ(type(0, true).kind, ValueKind::sequence);
  EXPECT_EQ(type(0, true).dim(0), Dim(2));
  EXPECT_FALSE(type(0, true).dim(1).is_number());
  EXPECT_EQ(type(1, true).text(), "optional(i64[3])");
  EXPECT_EQ(type(2, true).text(), "optional(seq(f32[*]))");
  EXPECT_EQ(type(0, false).text(), "optional(seq(f32[5]))");
  EXPECT_EQ(type(1, false).text(), "optional(f32[2,4])");
  EXPECT_EQ(type(3, false).text(), "optional(seq(f32[*]))");
}

TEST(OnnxExport, MapsKeepTheirTypes) {
  auto g = graph_of("graph main(m: map(string,i64), x: f32[n,2]) { z = ai.onnx.ml::ZipMap(x, classlabels_int64s=[7, 9]) return z, m }");
  ASSERT_TRUE(g);
  auto m = again(*g);
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(m->graph->value(m->graph->inputs()[0]).type.text(), "map(string,i64)");
  EXPECT_EQ(m->graph->value(m->graph->outputs()[0]).type.text(), "seq(map(i64,f32))");
}

TEST(OnnxExport, ChoosesTheLowestSufficientOpset) {
  auto g = graph_of("graph main(x: i32[2,3]) {\n  y = BitwiseNot(x)\n  return y\n}");
  ASSERT_TRUE(g);
  g->opsets = {{"", 13}};
  auto m = again(*g);
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(m->opsets[0].second, 18);
  auto fused = graph_of("graph main(x: f32[2,3]) {\n  y = Gelu(x)\n  return y\n}");
  fused->opsets = {{"", 13}};
  EXPECT_EQ(again(*fused)->opsets[0].second, 13) << "a function says what the opset lacks";
  auto plain = graph_of("graph main(x: f32[2,3]) {\n  y = Relu(x)\n  return y\n}");
  plain->opsets = {{"", 13}};
  EXPECT_EQ(again(*plain)->opsets[0].second, 13);
}

TEST(OnnxExport, OperandsBecomeAttributesOfOlderOpsets) {
  auto g = graph_of("graph main(x: f32[2,3]) {\n  const a: i64[1] = [0]\n  y = ReduceMean(x, a)\n  return y\n}");
  ASSERT_TRUE(g);
  auto m = again(*g, {.opset = 13});
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(m->opsets[0].second, 13);
  EXPECT_EQ(m->graph->value(m->graph->outputs()[0]).type.text(), "f32[1,3]");
  EXPECT_EQ(again(*g, {.opset = 3}).error().code(), Code::bad_usage);
}

TEST(OnnxExport, ARefusalNamesTheNode) {
  auto g = graph_of("graph main(x: i32[2]) {\n  y = Relu(x) @\"gate\"\n  return y\n}");
  ASSERT_TRUE(g);
  auto m = again(*g, {.opset = 13});
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::not_supported);
  EXPECT_EQ(m.error()->place, "node 'gate' (Relu)");
}

TEST(OnnxExport, OpsThatTheOpsetLacksBecomeFunctions) {
  auto g = graph_of("graph main(x: f32[2,3], w: f32[3]) {\n  n = RMSNormalization(x, w)\n  y = Swish(n)\n  return y\n}");
  ASSERT_TRUE(g);
  const auto bytes = export_onnx_bytes(*g, {.opset = 13});
  ASSERT_TRUE(bytes) << bytes.error().text();
  auto m = import_bytes(*bytes);
  ASSERT_TRUE(m) << m.error().text();
  EXPECT_EQ(m->opsets[0].second, 13);
  int sigmoids = 0;
  for (ir::NodeId n : m->graph->nodes()) sigmoids += m->graph->node(n).is("Sigmoid");
  EXPECT_EQ(sigmoids, 1) << "functions are written out again when they are read";
}

TEST(OnnxExport, OpsOfOnnxRuntimeStayNodesOfItsDomain) {
  auto g = graph_of(R"(graph main(x: f32[b,4], r: f32[4]) {
  g = com.microsoft::BiasGelu(x, r)
  s, m, d, t = com.microsoft::SkipLayerNormalization(g, x, r, r)
  y = SimplifiedLayerNormalization(t, r)
  return y, s
})");
  ASSERT_TRUE(g);
  g->opsets = {{"", 13}};
  auto m = again(*g);
  ASSERT_TRUE(m) << m.error().text();
  ASSERT_EQ(m->graph->node_count(), 3u) << "none was written out as a function";
  EXPECT_TRUE(m->graph->node(m->graph->first()).is("com.microsoft", "BiasGelu"));
  EXPECT_TRUE(m->graph->node(m->graph->last()).is("SimplifiedLayerNormalization"));
  EXPECT_EQ(m->opsets, (std::vector<std::pair<std::string, int64_t>>{{"", 13}, {"com.microsoft", 1}}));
}

size_t results_written(const ir::Graph& graph) {
  auto m = again(graph, {.opset = {}, .raise_to = 26});
  EXPECT_TRUE(m) << m.error().text();
  return m ? m->graph->node(m->graph->first()).outputs.size() : 0;
}

TEST(OnnxExport, UnusedOptionalResultsAreOmitted) {
  const std::string head = "graph main(x: f32[2,3,4], s: f32[3]) {\n  ", tail = "\n  return y\n}";
  const std::string norm = "BatchNormalization(x, s, s, s, s, training_mode=";
  EXPECT_EQ(results_written(*graph_of(head + "y, i = MaxPool(x, kernel_shape=[2])" + tail)), 1u);
  EXPECT_EQ(results_written(*graph_of(head + "y = " + norm + "0)" + tail)), 1u);
  EXPECT_EQ(results_written(*graph_of(head + "y, m, v = " + norm + "1)" + tail)), 3u) << "a norm that trains says what it learned";
  EXPECT_EQ(results_written(*graph_of(head + "y = " + norm + "1)" + tail)), 3u) << "though the graph does not";
  EXPECT_EQ(results_written(*graph_of(head + "y, _, v = " + norm + "1)" + tail)), 3u);
}

TEST(OnnxExport, ACallNamesAllResultsOfItsFunction) {
  const std::string head = "graph main(q: f32[1,2,3,4], m: bool[1]) {\n  ", tail = "\n  return y\n}";
  EXPECT_EQ(results_written(*graph_of(head + "y, k, v = tenon::LocalAttention(q, q, q, m, q, q)" + tail)), 3u);
  EXPECT_EQ(results_written(*graph_of(head + "y, _, v = tenon::LocalAttention(q, q, q, m, q, q)" + tail)), 3u);
  EXPECT_EQ(results_written(*graph_of(head + "y = tenon::LocalAttention(q, q, q, m)" + tail)), 1u);
}

TEST(OnnxExport, AFunctionWhoseDefinitionNeedsARankIsRefusedWithoutOne) {
  const std::string head = "graph main(q: f32[*], m: bool[1]) {\n  y = tenon::LocalAttention(q, q, q, m", tail = ")\n  return y\n}";
  EXPECT_EQ(results_written(*graph_of(head + tail)), 1u);
  const auto refused = again(*graph_of(head + ", repeats=2" + tail));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_supported);
}

TEST(OnnxExport, ANewCacheIsWrittenWhereThereIsAPast) {
  const auto written = [](const std::string& node) {
    const std::string inputs = "x: f32[2,1,16], w: f32[16,48], b: f32[48], p: f32[2,2,5,8], c: f32[2,2,2,5,8]";
    return results_written(*graph_of("graph main(" + inputs + ") {\n  y = " + node + "\n  return y\n}"));
  };
  EXPECT_EQ(written("com.microsoft::MultiHeadAttention(x, x, x, _, _, _, p, p, num_heads=2)"), 3u);
  EXPECT_EQ(written("com.microsoft::MultiHeadAttention(x, x, x, num_heads=2)"), 1u);
  EXPECT_EQ(written("com.microsoft::Attention(x, w, b, _, c, num_heads=2)"), 2u);
  EXPECT_EQ(written("com.microsoft::Attention(x, w, b, num_heads=2)"), 1u);
  EXPECT_EQ(written("Attention(x, x, x, _, p, p, q_num_heads=2, kv_num_heads=2)"), 3u);
}

TEST(OnnxExport, TheOpsetMayBeRaisedInsteadOfWritingFunctions) {
  auto g = graph_of("graph main(x: f32[2,3], s: f32[3]) {\n  a = Gelu(x)\n  y = RMSNormalization(a, s)\n  return y\n}");
  ASSERT_TRUE(g);
  g->opsets = {{"", 13}};
  EXPECT_EQ(again(*g, {.opset = {}, .raise_to = 26})->opsets[0].second, 23);
  auto m = again(*g, {.opset = {}, .raise_to = 20});
  EXPECT_EQ(m->opsets[0].second, 20) << "as far as is allowed";
  EXPECT_GT(m->graph->node_count(), 2u) << "and a function beyond that";
  EXPECT_EQ(again(*g, {.opset = 17, .raise_to = 26})->opsets[0].second, 17) << "an opset that is asked for stays";
}

TEST(OnnxExport, OutputsKeepTheirNames) {
  const float w[] = {1, 2};
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).initializer(tensor_f32("w", {2}, w)).node(node("Relu", {"x"}, {"h"}));
  g.output("h", DType::f32, {"2"}).output("x", DType::f32, {"2"}).output("w", DType::f32, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_TRUE(m) << m.error().text();
  m->graph->set_output(1, m->graph->outputs()[0]);  // x is now Relu's result too
  auto back = again(*m->graph);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->graph->output_name(0), "h");
  EXPECT_EQ(back->graph->output_name(2), "w");
}

TEST(OnnxExport, WeightsMayBeExternal) {
  const auto folder = std::filesystem::temp_directory_path() / ("tenon_export_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::vector<float> data(600);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  const float small[] = {1, 2};
  GraphBytes g;
  g.input("x", DType::f32, {"300"}).initializer(tensor_f32("w", {2, 300}, data)).initializer(tensor_f32("v", {2, 1}, small));
  g.node(node("Mul", {"x", "w"}, {"h"})).node(node("Add", {"h", "v"}, {"y"})).output("y", DType::f32, {"2", "300"});
  auto m = import_bytes(model(g));
  ASSERT_TRUE(m) << m.error().text();
  auto written = export_onnx(*m->graph, folder / "m.onnx", {.opset = {}, .external_data = true});
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_EQ(written->external_bytes, 2400);
  EXPECT_LT(std::filesystem::file_size(folder / "m.onnx"), 1000u);
  auto back = import_onnx(folder / "m.onnx");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->graph->tensor_of(back->graph->find_value("w"))->number(599), 599);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(import_onnx(folder / "m.onnx").error().code(), Code::file_missing);
  EXPECT_EQ(export_onnx(*m->graph, folder / "m.onnx").error().code(), Code::write_failed);
}

TEST(OnnxExport, BodiesReferToOuterNames) {
  GraphBytes then_branch, else_branch, g;
  const float k[] = {2, 3};
  then_branch.node(node("Mul", {"x", "k"}, {"t"})).output("t", DType::f32, {"2"});
  else_branch.node(node("Add", {"x", "k"}, {"e"})).output("e", DType::f32, {"2"});
  g.input("c", DType::boolean, {}).input("x", DType::f32, {"2"}).initializer(tensor_f32("k", {2}, k)).node(node("Neg", {"k"}, {"nk"}));
  g.node(node("If", {"c"}, {"y"},
              {graph_attribute_message("else_branch", else_branch.bytes), graph_attribute_message("then_branch", then_branch.bytes)}));
  g.output("y", DType::f32, {"2"}).output("nk", DType::f32, {"2"});
  auto m = import_bytes(model(g));
  ASSERT_TRUE(m) << m.error().text();
  const std::string bytes = *export_onnx_bytes(*m->graph);
  const std::string_view raw(reinterpret_cast<const char*>(k), sizeof k);
  const size_t first = bytes.find(raw);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(bytes.find(raw, first + 1), std::string::npos) << "the weight is written once, and the bodies refer to it";
  auto back = import_bytes(bytes);
  ASSERT_TRUE(back) << back.error().text();
  ASSERT_TRUE(ir::verify(*back->graph));
  EXPECT_EQ(back->graph->node(back->graph->last()).bodies.size(), 2u);
  auto twice = again(*back->graph);
  ASSERT_TRUE(twice) << twice.error().text();
  EXPECT_EQ(ir::print(*twice->graph), ir::print(*back->graph));
}

/// A root whose only node is an If; what both branches add is an initializer of the root, of `count` elements.
std::string constant_of_branches(int64_t count) {
  GraphBytes then_branch, else_branch, g;
  const std::vector<float> k(static_cast<size_t>(count), 7);
  const std::string size = std::to_string(count);
  then_branch.node(node("Mul", {"x", "k"}, {"t"})).output("t", DType::f32, {size});
  else_branch.node(node("Add", {"x", "k"}, {"e"})).output("e", DType::f32, {size});
  g.input("c", DType::boolean, {}).input("x", DType::f32, {size}).initializer(tensor_f32("k", {count}, k));
  g.node(node("If", {"c"}, {"y"},
              {graph_attribute_message("else_branch", else_branch.bytes), graph_attribute_message("then_branch", then_branch.bytes)}));
  g.output("y", DType::f32, {size});
  return model(g);
}

TEST(OnnxExport, ConstantsThatOnlyBodiesReadAreWritten) {
  for (int64_t count : {2, 300}) {
    auto m = import_bytes(constant_of_branches(count));
    ASSERT_TRUE(m) << m.error().text();
    const std::string bytes = *export_onnx_bytes(*m->graph);
    auto back = import_bytes(bytes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(ir::print(*back->graph), ir::print(*again(*back->graph)->graph));
    if (count > 2) EXPECT_LT(bytes.size(), 2u * 4 * 300) << "what may be large is written once";
  }
}

TEST(OnnxExport, RefusesTwoOutputsOfOneName) {
  auto g = graph_of("graph main(x: f32[4]) {\n a = Neg(x)\n y = Abs(a)\n return y\n}\n");
  ASSERT_TRUE(g);
  g->add_output(g->find_value("a"), "y");
  auto bytes = export_onnx_bytes(*g);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error()->place, "output 'y'");
}

}  // namespace
}  // namespace tenon::import::testing
