// SPDX-License-Identifier: Apache-2.0
// Models as graphs: read from files, bytes and text, looked at, written again, compiled.
#include <gtest/gtest.h>
#include <tenon/graph.h>

#include <fstream>
#include <limits>
#include <thread>

namespace {

const std::filesystem::path kModel = std::filesystem::path(TENON_TEST_DATA) / "../../examples/mlp.onnx";
constexpr int64_t kAllElements = std::numeric_limits<int64_t>::max();

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::filesystem::path temporary(const char* name) { return std::filesystem::path(testing::TempDir()) / name; }
std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

template <class T>
T expect(tenon::Result<T> result) {
  EXPECT_TRUE(result) << result.error().text();
  return std::move(result).value();
}

std::string saved(tenon::Result<tenon::Engine> engine, bool portable = false) {
  const auto path = temporary("graph.tenon");
  EXPECT_TRUE(expect(std::move(engine)).save(path, portable));
  return read(path);
}

tenon::Error refused(const tenon::Result<tenon::Graph>& graph) {
  EXPECT_FALSE(graph);
  return graph ? tenon::Error() : graph.error();
}

void expect_same(std::span<const tenon::Port> a, std::span<const tenon::Port> b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].name, b[k].name);
    EXPECT_EQ(a[k].dtype, b[k].dtype);
    EXPECT_EQ(a[k].dimensions, b[k].dimensions);
    EXPECT_EQ(a[k].upper, b[k].upper);
    EXPECT_EQ(a[k].kind, b[k].kind);
    EXPECT_EQ(a[k].key, b[k].key);
  }
}

TEST(ApiGraph, OfAFileItsBytesAndItsTextMakesTheEngineOfTheModel) {
  const std::string model = read(kModel);
  const auto of_file = expect(tenon::Graph::from_onnx(kModel)), of_bytes = expect(tenon::Graph::from_onnx(bytes_of(model)));
  const auto of_text = expect(tenon::Graph::parse(expect(of_file.text(kAllElements))));
  for (const int opt : {0, 3})
    for (const bool portable : {false, true}) {
      const std::string wanted = saved(tenon::compile(kModel, {.opt = opt}), portable);
      for (const tenon::Graph& graph : {of_file, of_bytes, of_text})
        EXPECT_TRUE(saved(tenon::compile(graph, {.opt = opt}), portable) == wanted);
    }
}

TEST(ApiGraph, ListsInputsOutputsAndNodes) {
  const auto graph = expect(tenon::Graph::from_onnx(kModel));
  const auto engine = expect(tenon::compile(graph));
  expect_same(graph.inputs(), engine.inputs());
  expect_same(graph.outputs(), engine.outputs());
  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.inputs()[0].name, "x");
  EXPECT_GE(graph.node_count(), 3U);
  EXPECT_NE(expect(graph.text()).find("Softmax("), std::string::npos);
}

TEST(ApiGraph, ReportsNonTensorValuesAndUnknownTypes) {
  const auto graph =
      expect(tenon::Graph::parse("graph main(s: seq(f32[2,k]), x: f32[*], m: map(string,i64), u) { return m, u, x as same, s }"));
  using Texts = std::vector<std::string>;
  const auto in = graph.inputs(), out = graph.outputs();
  ASSERT_EQ(in.size(), 4U);
  EXPECT_EQ(in[0].kind, tenon::ValueKind::sequence);
  EXPECT_EQ(in[0].dimensions, (Texts{"2", "?"}));
  EXPECT_EQ(in[1].dtype, tenon::DType::f32);
  EXPECT_EQ(in[1].dimensions, Texts{"*"});
  EXPECT_EQ(in[2].kind, tenon::ValueKind::map);
  EXPECT_EQ(in[2].key, tenon::DType::string);
  EXPECT_EQ(in[3].dtype, tenon::DType::none);
  ASSERT_EQ(out.size(), 4U);
  EXPECT_EQ(out[2].name, "same");
  EXPECT_EQ(out[3].kind, tenon::ValueKind::sequence);
  const auto engine = tenon::compile(graph);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, tenon::Code::bad_usage) << engine.error().text();
}

TEST(ApiGraph, ReportsSequencesAsEngineDoes) {
  const auto graph = expect(tenon::Graph::parse("graph main(s: seq(f32[2,k]), i: i64[]) { y = SequenceAt(s, i) return s as same, y }"));
  const auto engine = expect(tenon::compile(graph));
  expect_same(graph.inputs(), engine.inputs());
  expect_same(graph.outputs().first(1), engine.outputs().first(1));
  EXPECT_EQ(graph.inputs()[0].lower, engine.inputs()[0].lower);
}

TEST(ApiGraph, IsCompiledAsOftenAsOneLikes) {
  const auto graph = expect(tenon::Graph::from_onnx(kModel));
  const std::string before = expect(graph.text(kAllElements)), engine = saved(tenon::compile(graph));
  std::vector<std::string> texts(3);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts)
      threads.emplace_back(
          [&text, graph] { text = expect(tenon::compile(graph)).sizes().steps > 0 ? expect(graph.text(kAllElements)) : ""; });
  }
  EXPECT_EQ(texts, std::vector(3, before));
  EXPECT_TRUE(saved(tenon::compile(graph)) == engine);
}

TEST(ApiGraph, LivesWithoutTheBytesAndKeepsTheirKeeper) {
  auto held = std::make_shared<std::string>(read(kModel));
  const std::weak_ptr<std::string> watched = held;
  auto copied = expect(tenon::Graph::from_onnx(bytes_of(*held)));
  {
    const auto kept = expect(tenon::Graph::from_onnx(bytes_of(*held), {}, held));
    held.reset();
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(expect(kept.text(kAllElements)), expect(copied.text(kAllElements)));
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_TRUE(saved(tenon::compile(copied)) == saved(tenon::compile(kModel)));
}

TEST(ApiGraph, FixesShapesAsItIsRead) {
  const auto graph = expect(tenon::Graph::from_onnx(kModel, {.shapes = {{"x", {3, -1}}}}));
  EXPECT_EQ(graph.inputs()[0].dimensions, (std::vector<std::string>{"3", "16"}));
  EXPECT_EQ(graph.outputs()[0].dimensions[0], "3");
  EXPECT_EQ(refused(tenon::Graph::from_onnx(kModel, {.shapes = {{"z", {3}}}})).code, tenon::Code::bad_input);
}

TEST(ApiGraph, IsWrittenAsOnnx) {
  const auto graph = expect(tenon::Graph::from_onnx(kModel));
  const auto path = temporary("written.onnx"), weights = temporary("written.onnx.data");
  std::filesystem::remove(weights);
  EXPECT_EQ(expect(graph.save_onnx(path)), 17) << "the opset of the source";
  EXPECT_TRUE(saved(tenon::compile(path)) == saved(tenon::compile(kModel)));
  EXPECT_FALSE(std::filesystem::exists(weights));
  EXPECT_EQ(expect(graph.save_onnx(path, {.opset = 20})), 20);
  expect(graph.save_onnx(path, {.external_data = true}));
  EXPECT_GT(std::filesystem::file_size(weights), 1024U);
  EXPECT_EQ(expect(expect(tenon::Graph::from_onnx(path)).text(kAllElements)), expect(graph.text(kAllElements)));
  const auto nowhere = graph.save_onnx(temporary("no such folder") / "model.onnx");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, tenon::Code::write_failed) << nowhere.error().text();
}

TEST(ApiGraph, OfWhatIsNoModelIsRefused) {
  EXPECT_EQ(refused(tenon::Graph::from_onnx("no such file.onnx")).code, tenon::Code::file_missing);
  for (const std::string& bad : {std::string(), std::string(100, '\xff')})
    EXPECT_EQ(refused(tenon::Graph::from_onnx(bytes_of(bad))).place.rfind("model in memory", 0), 0U);
  const auto graph = expect(tenon::Graph::from_onnx(kModel));
  for (const std::string& bad : {std::string("graph main(x: f32[2]) {\n  y = Relu(x, x)\n  return y }"), std::string("graph"),
                                 std::string("graph main(x: f32[2]) {\n  y = NoSuchOp(x)\n  return y }"), expect(graph.text())}) {
    const tenon::Error error = refused(tenon::Graph::parse(bad));
    EXPECT_FALSE(error.place.empty()) << error.text();
    EXPECT_FALSE(error.what.empty()) << error.text();
  }
}

TEST(ApiGraph, IsNotCompiledWithOptionsOfReadingOne) {
  const auto graph = expect(tenon::Graph::from_onnx(kModel));
  for (const tenon::CompileOptions& options :
       {tenon::CompileOptions{.external_data = "."}, tenon::CompileOptions{.shapes = {{"x", {1, 16}}}},
        tenon::CompileOptions{.outputs = {"y"}}, tenon::CompileOptions{.opt = 4}}) {
    const auto engine = tenon::compile(graph, options);
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, tenon::Code::bad_usage) << engine.error().text();
  }
}

}  // namespace
