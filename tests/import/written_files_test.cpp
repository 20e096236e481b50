// SPDX-License-Identifier: Apache-2.0
// Exported nodes conform to the schema of their op at the opset; otherwise export refuses the node.
#include <gtest/gtest.h>

#include <filesystem>

#include <unistd.h>

#include "import/check_written.h"
#include "import/onnx_export.h"
#include "import/onnx_parse.h"
#include "ir/text.h"
#include "model_bytes.h"
#include "ops/core/op.h"

namespace tenon::import::testing {
namespace {

std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto g = ir::parse(text, ops::table());
  EXPECT_TRUE(g) << g.error().text();
  return g ? *std::move(g) : nullptr;
}

/// "OPSET: Op(operands; attributes) ...": the nodes of the written model, or the code and place of the error.
std::string written(const ir::Graph& graph, std::optional<int64_t> opset) {
  ExportOptions options;
  options.opset = opset;
  const auto bytes = export_onnx_bytes(graph, options);
  if (!bytes) return bytes.error().text();
  const auto model = parse_onnx(*bytes, "model");
  if (!model) return model.error().text();
  std::string out = std::to_string(model->opsets[0].version) + ":";
  for (const OnnxNode& n : model->graph.nodes) {
    out += " " + std::string(n.op) + "(";
    for (size_t k = 0; k < n.inputs.size(); ++k) out += (k ? "," : "") + std::string(n.inputs[k].empty() ? "_" : n.inputs[k]);
    for (const OnnxAttribute& a : n.attributes) out += ";" + std::string(a.name);
    out += ")";
  }
  return out;
}

std::string written_from(const std::string& bytes, std::optional<int64_t> opset) {
  const auto m = import_bytes(bytes);
  return m ? written(*m->graph, opset) : m.error().text();
}

std::string upsample(int64_t opset) {
  GraphBytes g;
  const float scales[] = {1, 1, 2, 3};
  g.input("x", DType::f32, {"1", "1", "2", "2"});
  if (opset < 9) {
    g.node(node("Upsample", {"x"}, {"y"}, {attribute("scales", ir::Floats{1, 1, 2, 3}), attribute("mode", std::string("nearest"))}));
  } else {
    g.initializer(tensor_f32("s", {4}, scales)).node(node("Upsample", {"x", "s"}, {"y"}, {attribute("mode", std::string("nearest"))}));
  }
  return model(g.output("y", DType::f32, {"1", "1", "4", "6"}), opset, {}, 4);
}

TEST(WrittenFiles, UpsampleBecomesResizeWhereTheOpsetLacksIt) {
  EXPECT_EQ(written_from(upsample(9), {}), "9: Upsample(x,s;mode)");
  EXPECT_EQ(written_from(upsample(9), 10), "10: Resize(x,s;mode)");
  EXPECT_EQ(written_from(upsample(9), 13), "13: Resize(x,_,s;coordinate_transformation_mode;mode;nearest_mode)");
  EXPECT_EQ(written_from(upsample(7), {}), "7: Upsample(x;mode;scales)");
  EXPECT_EQ(written_from(upsample(9), 8), "8: Upsample(x;mode;scales)");
}

TEST(WrittenFiles, ScatterBecomesScatterElementsWhereTheOpsetLacksIt) {
  GraphBytes g;
  g.input("x", DType::f32, {"2", "4"}).input("i", DType::i64, {"2", "2"}).input("u", DType::f32, {"2", "2"});
  g.node(node("Scatter", {"x", "i", "u"}, {"y"}, {attribute("axis", int64_t{1})})).output("y", DType::f32, {"2", "4"});
  const std::string bytes = model(g, 9, {}, 4);
  EXPECT_EQ(written_from(bytes, {}), "9: Scatter(x,i,u;axis)");
  EXPECT_EQ(written_from(bytes, 11), "11: ScatterElements(x,i,u;axis)");
  EXPECT_EQ(written_from(bytes, 28), "28: ScatterElements(x,i,u;axis)");
}

TEST(WrittenFiles, ResizeOfOpset10KeepsItsForm) {
  GraphBytes g;
  const float scales[] = {1, 1, 0.5, 3};
  g.input("x", DType::f32, {"1", "1", "2", "2"}).initializer(tensor_f32("s", {4}, scales));
  g.node(node("Resize", {"x", "s"}, {"y"}, {attribute("mode", std::string("linear"))})).output("y", DType::f32, {"1", "1", "1", "6"});
  EXPECT_EQ(written_from(model(g, 10, {}, 5), {}), "10: Resize(x,s;mode)");
}

TEST(WrittenFiles, LoopKeepsTheOperandsThatItsSchemaCounts) {
  GraphBytes body;
  body.input("i", DType::i64, {}).input("c", DType::boolean, {});
  body.node(node("Identity", {"c"}, {"co"})).node(node("Cast", {"i"}, {"o"}, {attribute("to", int64_t{1})}));
  body.output("co", DType::boolean, {}).output("o", DType::f32, {});
  GraphBytes g;
  g.input("n", DType::i64, {}).node(node("Loop", {"n", ""}, {"y"}, {graph_attribute_message("body", body.bytes)}));
  const std::string bytes = model(g.output("y", DType::f32, {"k"}), 16);
  EXPECT_EQ(written_from(bytes, {}), "16: Loop(n,_;body)");
}

struct TypeCase {
  std::string_view graph;
  int64_t lowest;  ///< opset whose schema allows the types
};

class LowestOpset : public ::testing::TestWithParam<TypeCase> {};

TEST_P(LowestOpset, FollowsTheElementTypesOfEachVersion) {
  const auto [text, lowest] = GetParam();
  auto g = graph_of(text);
  ASSERT_TRUE(g);
  g->opsets = {{"", 7}};
  EXPECT_TRUE(written(*g, {}).starts_with(std::to_string(lowest) + ":")) << written(*g, {});
  EXPECT_TRUE(written(*g, lowest).starts_with(std::to_string(lowest) + ":")) << written(*g, lowest);
  if (lowest > 7) EXPECT_TRUE(written(*g, lowest - 1).contains("the opset cannot say every node")) << written(*g, lowest - 1);
}

INSTANTIATE_TEST_SUITE_P(Types, LowestOpset,
                         ::testing::Values(TypeCase{"graph main(x: f32[2], z: f32[2]) { y = Equal(x, z) return y }", 11},
                                           TypeCase{"graph main(x: i64[2], z: i64[2]) { y = Equal(x, z) return y }", 7},
                                           TypeCase{"graph main(x: string[2], z: string[2]) { y = Equal(x, z) return y }", 19},
                                           TypeCase{"graph main(x: f32[2]) { y = Sign(x) return y }", 9},
                                           TypeCase{"graph main(x: i32[2], z: i32[2]) { y = Less(x, z) return y }", 9},
                                           TypeCase{"graph main(x: i32[2], z: i32[2]) { y = Greater(x, z) return y }", 9},
                                           TypeCase{"graph main(x: i32[2,3]) { y = Flatten(x) return y }", 9},
                                           TypeCase{"graph main(x: bf16[2]) { y = Abs(x) return y }", 13},
                                           TypeCase{"graph main(x: f8e5m2[2]) { y = Identity(x) return y }", 19},
                                           TypeCase{"graph main(x: i4[2]) { y = Identity(x) return y }", 21},
                                           TypeCase{"graph main(x: u2[2]) { y = Identity(x) return y }", 25},
                                           TypeCase{"graph main(x: f32[2], s: f32[], z: u16[]) { y = QuantizeLinear(x, s, z) return y }",
                                                    21}));

TEST(WrittenFiles, TypesThatTheOpsetLacksAreCastWhereWiderOnesSayTheSame) {
  auto equal = graph_of("graph main(x: i8[2], z: i8[2]) { y = Equal(x, z) return y }");
  auto cos = graph_of("graph main(x: bf16[2]) { y = Cos(x) return y }");
  auto relu = graph_of("graph main(x: i8[2]) { y = Relu(x) return y }");
  ASSERT_TRUE(equal && cos && relu);
  const std::string as_i32 = written(*equal, 10), as_f32 = written(*cos, 17), refused = written(*relu, 13);
  EXPECT_TRUE(as_i32.starts_with("10: Cast(x;to) Cast(z;to) Equal(")) << as_i32;
  EXPECT_TRUE(as_f32.starts_with("17: Cast(x;to) Cos(") && as_f32.rfind("Cast(") > as_f32.find("Cos(")) << as_f32;
  EXPECT_TRUE(refused.contains("the opset cannot say every node")) << "no integers at all before opset 14: " << refused;
}

TEST(WrittenFiles, CopiesOfOutputsNeedAnOpsetThatHasTheirType) {
  auto g = graph_of("graph main(x: u4[2]) { return x }");
  ASSERT_TRUE(g);
  g->add_output(g->inputs()[0], "copy");
  g->opsets = {{"", 13}};
  EXPECT_TRUE(written(*g, {}).starts_with("21: Identity(")) << written(*g, {});
  EXPECT_TRUE(written(*g, 21).starts_with("21: Identity(")) << written(*g, 21);
  const std::string refused = written(*g, 20);
  EXPECT_TRUE(refused.contains("opset 21 or newer") && refused.contains("output 'x")) << refused;
}

TEST(WrittenFiles, AFunctionHasNoConstantsOfTypesThatItsOpsetLacks) {
  auto g = graph_of(
      "graph main(x: f32[2,3,4,5], s: f32[3], b: f32[3], m: f32[3], v: f32[3]) {\n"
      "  y = BatchNormalization(x, s, b, m, v) @\"norm\"\n  return y\n}");
  ASSERT_TRUE(g);
  const std::string refused = written(*g, 8);
  EXPECT_TRUE(refused.contains("'norm'") && refused.contains("opset 9 or newer")) << refused;
  EXPECT_TRUE(written(*g, 9).starts_with("9: BatchNormalization(")) << written(*g, 9);
}

TEST(WrittenFiles, RefusalNamesTheNodeAndLeavesNoFile) {
  auto g = graph_of("graph main(x: f32[2], z: f32[2]) {\n  y = Equal(x, z) @\"same\"\n  return y\n}");
  ASSERT_TRUE(g);
  const auto folder = std::filesystem::temp_directory_path() / ("tenon_written_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ExportOptions options;
  options.opset = 10;
  const auto refused = export_onnx(*g, folder / "m.onnx", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::not_supported);
  EXPECT_TRUE(refused.error().text().contains("same")) << refused.error().text();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

std::string two_nodes(const std::string& first, const std::string& second) {
  GraphBytes g;
  return model(g.input("x", DType::f32, {"2"}).node(first).node(second).output("y", DType::f32, {"2"}));
}

TEST(CheckWritten, RefusesOperandsThatNoEarlierNodeMakes) {
  const std::string neg = node("Neg", {"x"}, {"h"}), add = node("Add", {"h", "w"}, {"y"}, {}, {}, "sum");
  const std::string_view weights[] = {"w"};
  EXPECT_TRUE(check_written(two_nodes(neg, add), weights));
  const auto refused = [&](const std::string& bytes) {
    const auto checked = check_written(bytes, weights);
    return checked ? std::string() : checked.error().text();
  };
  EXPECT_TRUE(refused(two_nodes(add, neg)).contains("node 'sum' (Add)")) << "order";
  EXPECT_TRUE(refused(two_nodes(neg, node("Neg", {"h"}, {"w"}))).contains("made twice"));
  EXPECT_TRUE(refused(two_nodes(neg, node("Neg", {"h"}, {"z"}))).contains("'y' is an output that no node makes"));
  EXPECT_TRUE(refused(two_nodes(neg, node("Gelu", {"h"}, {"y"}, {}, "com.microsoft"))).contains("not imported"));
}

TEST(CheckWritten, LooksIntoBodiesAndFunctions) {
  GraphBytes body;
  body.node(node("Neg", {"h"}, {"b"})).output("b", DType::f32, {"2"});
  const std::string branches =
      node("If", {"c"}, {"y"}, {graph_attribute_message("then_branch", body.bytes), graph_attribute_message("else_branch", body.bytes)});
  const std::string first = node("Neg", {"x"}, {"h"});
  const std::string_view weights[] = {"c"};
  const auto checked = [&](const std::string& a, const std::string& b) { return check_written(two_nodes(a, b), weights); };
  EXPECT_FALSE(checked(branches, first)) << "the body reads what is made later";
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Twice", {"x"}, {"y"}, {}, "mine")).output("y", DType::f32, {"2"});
  const std::vector<FunctionBytes> functions = {{"mine", "Twice", {"a"}, {"r"}, {node("Add", {"a", "later"}, {"r"})}}};
  const auto inside = check_written(model(g, 17, functions), {});
  ASSERT_FALSE(inside);
  EXPECT_TRUE(inside.error().text().contains("'later' is read before it is made"));
}

}  // namespace
}  // namespace tenon::import::testing
