// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "compiler/load.h"
#include "compiler/save.h"
#include "engine/writer.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon {
namespace {

using engine::SectionType;

constexpr const char* kGraph = R"(graph main(x: f32[2,65]) {
  const w: f32[65] = @0
  y: f32[2,65] = Mul(x, w)
  return y
}
)";
constexpr const char* kIndex = R"([{"dtype":"f32","shape":[65],"offset":64}])";

/// An engine without code, its checksums right, whatever it says.
std::filesystem::path file(std::string graph, std::string index, size_t weight_bytes = 384) {
  engine::Writer writer;
  writer.add(SectionType::manifest, R"({"opt":3})");
  writer.add(SectionType::graph_text, std::move(graph));
  writer.add(SectionType::constants_index, std::move(index));
  std::string weights(weight_bytes, '\0');
  for (size_t k = 64; k + 4 <= weight_bytes; k += 4) weights[k + 3] = 0x40;  // 2.0f
  writer.add(SectionType::weights, std::move(weights));
  const auto path = std::filesystem::path(testing::TempDir()) / "portable_test.tenon";
  std::ofstream(path, std::ios::binary) << *writer.bytes();
  return path;
}

Code refused(const std::string& graph, const std::string& index, size_t weight_bytes = 384) {
  const auto loaded = compiler::load(file(graph, index, weight_bytes));
  return loaded ? Code::internal : loaded.error().code();
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Portable, IsCompiledOnLoad) {
  const auto engine = compiler::load(file(kGraph, kIndex));
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  const Tensor x = Tensor::of_f32({2, 65}, std::vector<float>(130, 3.0F));
  const auto y = (*context)->run({&x, 1});
  ASSERT_TRUE(y) << y.error().text();
  EXPECT_EQ((*y)[0].as<float>()[129], 6.0F);
}

/// Of intervals of sizes, before a model of all: weights of both are kept once.
TEST(Portable, OutOfRangeShapesUseUnboundedProgram) {
  const auto graph_of = [](bool bounded) {
    std::string numbers = "1";
    for (int k = 2; k <= 100; ++k) numbers += ", " + std::to_string(k);
    auto graph = *ir::parse("graph main(x: f32[n,100]) { const w: f32[100] = [" + numbers + R"(]
      const from: i64[1] = [0] const to: i64[1] = [9] const axis: i64[1] = [0]
      s = Slice(x, from, to, axis) y = Mul(s, w) return y })",
                            ops::table());
    if (!bounded) return graph;
    graph->symbols().symbol("n", 10, 20);
    EXPECT_TRUE(ir::infer_all(*graph));
    return graph;
  };
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "portable_bounds.tenon", alone = path.string() + ".alone";
  compiler::CompileOptions options;
  options.portable = true;
  ASSERT_TRUE(compiler::save(*compiler::compile({graph_of(true), graph_of(false)}, options), options, path));
  ASSERT_TRUE(compiler::save(*compiler::compile(graph_of(true), options), options, alone));
  EXPECT_LT(std::filesystem::file_size(path), std::filesystem::file_size(alone) + 4096 + 64);  // a page with a text
  const auto engine = compiler::load(path, {.verify = true});
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  for (int64_t rows : {10, 15, 20, 9, 3, 1, 50}) {
    const Tensor x = Tensor::of_f32({rows, 100}, std::vector<float>(static_cast<size_t>(rows) * 100, 2));
    const auto y = (*context)->run({&x, 1});
    ASSERT_TRUE(y) << rows << ": " << y.error().text();
    ASSERT_EQ((*y)[0].shape(), (Sizes{std::min<int64_t>(rows, 9), 100}));
    EXPECT_EQ((*y)[0].as<float>()[99], 200.0F);
  }
}

TEST(Portable, ConstantsOutsideTheWeightsAreRefused) {
  for (const char* offset : {"128", "65", "18446744073709551552", "-64", "1.5", "null"})
    EXPECT_EQ(refused(kGraph, changed(kIndex, "64", offset)), Code::bad_file) << offset;
  for (const char* shape : {"[4611686018427387904,4]", "[-65]", "[0.5]", "65", "[200]"})
    EXPECT_EQ(refused(kGraph, changed(kIndex, "[65]", shape)), Code::bad_file) << shape;
  for (const char* dtype : {"string", "none", "f33"}) EXPECT_EQ(refused(kGraph, changed(kIndex, "f32", dtype)), Code::bad_file) << dtype;
  EXPECT_EQ(refused(kGraph, kIndex, 320), Code::bad_file);
}

TEST(Portable, AnIndexThatIsNoListIsRefused) {
  for (const char* index : {"", "{}", "[1]", "[{}]", "nonsense", "null"}) EXPECT_EQ(refused(kGraph, index), Code::bad_file) << index;
  EXPECT_EQ(refused(kGraph, "[]"), Code::bad_graph);
}

TEST(Portable, TypesThatLieAreRefused) {
  EXPECT_EQ(refused(changed(kGraph, "y: f32[2,65]", "y: f32[2,66]"), kIndex), Code::bad_graph);
  EXPECT_EQ(refused(changed(kGraph, "y: f32[2,65]", "y: f64[2,65]"), kIndex), Code::bad_graph);
  EXPECT_EQ(refused(changed(kGraph, "w: f32[65]", "w: f32[64]"), kIndex), Code::bad_graph);
}

TEST(Portable, StatedSizesThatInferenceCannotProveAreChecked) {
  const std::string lying = changed(changed(kGraph, "x: f32[2,65]", "x: f32[n,65]"), "y: f32[2,65]", "y: f32[4,65]");
  const auto engine = compiler::load(file(lying, kIndex));
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  const Tensor x = Tensor::of_f32({1, 65}, std::vector<float>(65, 3.0F));
  const auto y = (*context)->run({&x, 1});
  ASSERT_FALSE(y);
  EXPECT_EQ(y.error().code(), Code::shape_mismatch);
  const Tensor four = Tensor::of_f32({4, 65}, std::vector<float>(4 * 65, 3.0F));
  EXPECT_TRUE((*context)->run({&four, 1}));
}

TEST(Portable, TextThatIsNoGraphIsRefused) {
  EXPECT_EQ(refused("", kIndex), Code::bad_graph);
  EXPECT_EQ(refused("graph main(", kIndex), Code::bad_graph);
  EXPECT_EQ(refused(changed(kGraph, "Mul(", "NoSuchOp("), kIndex), Code::bad_graph);
}

}  // namespace
}  // namespace tenon
