// SPDX-License-Identifier: Apache-2.0
// Files that are damaged or hostile: each is one error with the right code, and nothing is allocated on a file's word.
#include <gtest/gtest.h>

#include "model_bytes.h"

namespace tenon::import::testing {
namespace {

GraphBytes relu_of_constant(const std::string& tensor) {
  GraphBytes g;
  return g.initializer(tensor).node(node("Relu", {"w"}, {"y"})).output("y", DType::f32, {"2"});
}

Code code_of(const std::string& bytes, const ImportOptions& options = {}) {
  auto m = import_bytes(bytes, options);
  return m ? Code::internal : m.error().code();
}

std::string typed(DType dtype, const Sizes& shape, uint32_t field, const std::string& packed) {
  std::string out = tensor_head("w", dtype, shape);
  Writer(out).add_bytes(field, packed);
  return out;
}

TEST(OnnxReader, EveryTruncationOfAModelIsOneError) {
  const float w[] = {1, -2};
  const std::string whole = model(relu_of_constant(tensor_f32("w", {2}, w)));
  ASSERT_TRUE(import_bytes(whole));
  for (size_t n = 0; n < whole.size(); ++n) {
    auto m = import_bytes(whole.substr(0, n));
    if (!m) EXPECT_NE(m.error().code(), Code::internal) << n;
  }
}

TEST(OnnxReader, ErrorsSayTheOffset) {
  std::string bytes = model(relu_of_constant(tensor_f32("w", {0}, {})));
  bytes += "\x3a\xff\xff\xff\xff\x7f";  // a graph of 32 GiB
  auto m = import_bytes(bytes);
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().code(), Code::bad_file);
  EXPECT_NE(m.error()->place.find("byte " + std::to_string(bytes.size())), std::string::npos) << m.error().text();
}

TEST(OnnxReader, OtherFilesAreNoModels) {
  EXPECT_EQ(code_of(""), Code::bad_file);
  EXPECT_EQ(code_of("hello, this is text\n"), Code::bad_file);
  EXPECT_EQ(code_of(std::string(100, '\0')), Code::bad_file);
}

TEST(OnnxReader, SizesThatTheDataCannotFillAreRefused) {
  EXPECT_EQ(code_of(model(relu_of_constant(tensor_f32("w", {1'000'000'000'000}, {})))), Code::limit_exceeded);
  EXPECT_EQ(code_of(model(relu_of_constant(tensor_f32("w", {1'000'000'000}, {})))), Code::bad_file);
  EXPECT_EQ(code_of(model(relu_of_constant(tensor_f32("w", {1ll << 40, 1ll << 40}, {})))), Code::size_overflow);
  EXPECT_EQ(code_of(model(relu_of_constant(tensor_f32("w", {-2}, {})))), Code::size_overflow);
  const float w[] = {1, 2, 3};
  EXPECT_EQ(code_of(model(relu_of_constant(tensor_f32("w", {2}, w)))), Code::bad_file);
}

TEST(OnnxReader, TypedFieldsAreDecoded) {
  const auto element = [&](const std::string& tensor, int64_t i) {
    GraphBytes g;
    g.initializer(tensor).node(node("Identity", {"w"}, {"y"})).output("y", DType::none, {});
    auto m = import_bytes(model(g, 21));
    EXPECT_TRUE(m) << m.error().text();
    return m ? m->graph->tensor_of(m->graph->find_value("w"))->number(i) : -1;
  };
  EXPECT_EQ(element(typed(DType::i32, {2}, schema::tensor::kInt32Data, {"\x05\x07", 2}), 1), 7);
  EXPECT_EQ(element(typed(DType::i64, {1}, schema::tensor::kInt64Data, {"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}), 0), -2);
  EXPECT_EQ(element(typed(DType::f16, {1}, schema::tensor::kInt32Data, {"\x80\x78", 2}), 0), 1.0);  // 0x3c00
  EXPECT_EQ(element(typed(DType::u4, {3}, schema::tensor::kInt32Data, {"\x21\x03", 2}), 2), 3);     // two to an entry
  EXPECT_EQ(element(typed(DType::i4, {2}, schema::tensor::kInt32Data, {"\xf2\x01", 2}), 1), -1);    // 0xf2
  EXPECT_EQ(element(typed(DType::f64, {1}, schema::tensor::kDoubleData, std::string(6, '\0') + "\xf0\x3f"), 0), 1.0);
}

TEST(OnnxReader, TypedFieldsOfTheWrongLengthAreRefused) {
  for (const char* packed : {"\x05", "\x05\x06\x07"})
    EXPECT_EQ(code_of(model(relu_of_constant(typed(DType::i32, {2}, schema::tensor::kInt32Data, packed)))), Code::bad_file);
}

TEST(OnnxReader, SparseInitializersBecomeDense) {
  const float values[] = {5, 7};
  const int64_t at[] = {1, 3}, outside[] = {1, 4};
  for (bool good : {true, false}) {
    std::string sparse;
    Writer s(sparse);
    s.add_message(schema::sparse_tensor::kValues, tensor_f32("w", {2}, values));
    s.add_message(schema::sparse_tensor::kIndices, tensor_i64("", {2}, good ? at : outside));
    s.add_int64(schema::sparse_tensor::kDims, 2);
    s.add_int64(schema::sparse_tensor::kDims, 2);
    GraphBytes g;
    g.add(schema::graph::kSparseInitializer, sparse).node(node("Relu", {"w"}, {"y"})).output("y", DType::f32, {"2", "2"});
    auto m = import_bytes(model(g));
    ASSERT_EQ(m.has_value(), good);
    if (good) EXPECT_EQ(numbers_of(*m->graph->tensor_of(m->graph->find_value("w"))), (std::vector<double>{0, 5, 0, 7}));
    else EXPECT_EQ(m.error().code(), Code::index_out_of_range);
  }
}

TEST(OnnxReader, NestingIsLimited) {
  std::string body;
  for (int depth = 0; depth < 300; ++depth) {
    GraphBytes g;
    g.node(node("If", {"c"}, {"y"}, {graph_attribute_message("then_branch", body), graph_attribute_message("else_branch", "")}));
    g.output("y", DType::f32, {"2"});
    body = g.bytes;
  }
  GraphBytes g;
  g.bytes = body;
  EXPECT_EQ(code_of(model(g)), Code::limit_exceeded);
}

TEST(OnnxReader, FunctionsThatDoubleEachOtherAreLimited) {
  std::vector<FunctionBytes> functions;
  functions.emplace_back("local", "F0", std::vector<std::string>{"a"}, std::vector<std::string>{"r"},
                         std::vector{node("Neg", {"a"}, {"r"})});
  for (int k = 1; k < 50; ++k) {
    const std::string inner = "F" + std::to_string(k - 1);
    functions.emplace_back("local", "F" + std::to_string(k), std::vector<std::string>{"a"}, std::vector<std::string>{"r"},
                           std::vector{node(inner, {"a"}, {"h"}, {}, "local"), node(inner, {"h"}, {"r"}, {}, "local")});
  }
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("F49", {"x"}, {"y"}, {}, "local")).output("y", DType::f32, {"2"});
  ImportOptions options;
  options.limits.values = 10'000;
  EXPECT_EQ(code_of(model(g, 17, functions), options), Code::limit_exceeded);
}

TEST(OnnxReader, OpsetsOutOfRangeAreRefusedOrWarnedOf) {
  GraphBytes g;
  g.input("x", DType::f32, {"2"}).node(node("Relu", {"x"}, {"y"})).output("y", DType::f32, {"2"});
  EXPECT_EQ(code_of(model(g, -1)), Code::not_supported);
  auto newer = import_bytes(model(g, 99, {}, 99));
  ASSERT_TRUE(newer) << newer.error().text();
  EXPECT_EQ(newer->warnings.size(), 2u);
}

}  // namespace
}  // namespace tenon::import::testing
