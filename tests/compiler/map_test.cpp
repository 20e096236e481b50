// SPDX-License-Identifier: Apache-2.0
// Maps and sequences of maps, by reference and compiled: what makes them, what reads them, and at the door.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ir/literal.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

Tensor floats(Sizes shape, std::vector<float> data) { return Tensor::of_f32(std::move(shape), data); }
Tensor words(std::vector<std::string> data) { return Tensor::of_strings({static_cast<int64_t>(data.size())}, data); }
Tensor numbers(std::vector<int64_t> data) { return Tensor::of_i64({static_cast<int64_t>(data.size())}, data); }
Tensor map(Tensor keys, Tensor values) { return Tensor::of_elements(DType::map, {std::move(keys), std::move(values)}); }
Tensor sequence(std::vector<Tensor> elements) { return Tensor::of_elements(DType::sequence, std::move(elements)); }

Result<std::vector<Tensor>> results(std::string_view text, const std::vector<Tensor>& inputs, int opt) {
  return testing::compiled_results(TRY(ir::parse(text, ops::table())), inputs, opt);
}

void check(std::string_view text, const std::vector<Tensor>& inputs, const Tensor& want) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto judged = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(judged) << judged.error().text();
  EXPECT_TRUE(ir::same((*judged)[0], want)) << type_text((*judged)[0]);
  for (int opt : {0, 3}) {
    const auto got = results(text, inputs, opt);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_TRUE(ir::same((*got)[0], want)) << type_text((*got)[0]) << " at opt " << opt;
  }
}

void expect_error(std::string_view text, const std::vector<Tensor>& inputs, Code code, std::string_view part) {
  for (int opt : {0, 3}) {
    const auto got = results(text, inputs, opt);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code(), code) << got.error().text();
    EXPECT_NE(got.error().text().find(part), std::string::npos) << got.error().text();
  }
}

TEST(Maps, ZipMapGivesOneForEachRow) {
  constexpr std::string_view kText =
      "graph(x: f32[n,2]) { y = Neg(x) z = ai.onnx.ml::ZipMap(y, classlabels_strings=[\"cat\", \"dog\"]) return z }";
  const Tensor keys = words({"cat", "dog"});
  check(kText, {floats({2, 2}, {1, 2, 3, 4})}, sequence({map(keys, floats({2}, {-1, -2})), map(keys, floats({2}, {-3, -4}))}));
  check(kText, {floats({0, 2}, {})}, sequence({}));
  check("graph(x: f32[2]) { z = ai.onnx.ml::ZipMap(x, classlabels_int64s=[7, 9]) return z }", {floats({2}, {1, 2})},
        sequence({map(numbers({7, 9}), floats({2}, {1, 2}))}));
  expect_error("graph(x: f32[n,m]) { z = ai.onnx.ml::ZipMap(x, classlabels_int64s=[7, 9]) return z }", {floats({1, 3}, {1, 2, 3})},
               Code::shape_mismatch, "class labels");
}

TEST(Maps, DictVectorizerGivesOneColumnForEachWord) {
  constexpr std::string_view kText =
      "graph(m: map(string,f32)) { y = ai.onnx.ml::DictVectorizer(m, string_vocabulary=[\"b\", \"a\", \"z\"]) r = Neg(y) return r }";
  check(kText, {map(words({"a", "q", "b"}), floats({3}, {1, 2, 3}))}, floats({1, 3}, {-3, -1, -0.0f}));
  check(kText, {map(words({}), floats({0}, {}))}, floats({1, 3}, {-0.0f, -0.0f, -0.0f}));
  check("graph(m: map(i64,string)) { y = ai.onnx.ml::DictVectorizer(m, int64_vocabulary=[2, 1]) return y }",
        {map(numbers({1}), words({"one"}))}, Tensor::of_strings({1, 2}, {"", "one"}));
  expect_error(kText, {map(numbers({1}), floats({1}, {1}))}, Code::bad_input, "map(string,f32)");
  expect_error(kText, {floats({1}, {1})}, Code::bad_input, "map(string,f32)");
  expect_error(kText, {map(words({"a"}), numbers({1}))}, Code::bad_input, "map(string,f32)");
}

TEST(Maps, CastMapGivesTheValuesInTheOrderOfTheirKeys) {
  const Tensor given = map(numbers({9, 0, 3}), floats({3}, {1.5, 2.5, -3.5}));
  check("graph(m: map(i64,f32)) { y = ai.onnx.ml::CastMap(m) return y }", {given}, floats({1, 3}, {2.5, -3.5, 1.5}));
  check("graph(m: map(i64,f32)) { y = ai.onnx.ml::CastMap(m, map_form=\"SPARSE\", max_map=4) return y }", {given},
        floats({1, 4}, {2.5, 0, 0, -3.5}));
  check("graph(m: map(i64,f32)) { y = ai.onnx.ml::CastMap(m, cast_to=\"TO_INT64\") return y }", {given},
        Tensor::of_i64({1, 3}, std::vector<int64_t>{2, -3, 1}));
  const Tensor texts = map(numbers({1, 0}), words({"0.5", "7"}));
  check("graph(m: map(i64,string)) { y = ai.onnx.ml::CastMap(m) return y }", {texts}, floats({1, 2}, {7, 0.5}));
  expect_error("graph(m: map(i64,string)) { y = ai.onnx.ml::CastMap(m, cast_to=\"TO_INT64\") return y }", {texts}, Code::bad_input, "0.5");
  expect_error("graph(m: map(i64,f32)) { y = ai.onnx.ml::CastMap(m, map_form=\"SPARSE\") return y }",
               {map(numbers({-1}), floats({1}, {1}))}, Code::index_out_of_range, "below 0");
}

TEST(Maps, ComeInAndGoOutAsTheyAre) {
  const Tensor one = map(words({"a"}), floats({1}, {1})), two = map(words({"b", "c"}), floats({2}, {2, 3}));
  check("graph(s: seq(map(string,f32))) { t = Identity(s) return t }", {sequence({one, two})}, sequence({one, two}));
  expect_error("graph(s: seq(map(string,f32))) { return s }", {sequence({one, floats({1}, {1})})}, Code::bad_input, "seq(map(string,f32))");
  expect_error("graph(s: seq(f32[*])) { return s }", {sequence({floats({1}, {1}), one})}, Code::bad_input, "seq(f32[*])");
}

TEST(Maps, AreNoOperandsOfOtherOps) {
  for (std::string_view text :
       {"graph(m: map(i64,f32)) { r = Relu(m) return r }", "graph(s: seq(map(i64,f32))) { r = SequenceLength(s) return r }",
        "graph(m: map(string,f32)) { r = ai.onnx.ml::CastMap(m) return r }"}) {
    const auto graph = ir::parse(text, ops::table());
    ASSERT_FALSE(graph) << text;
    EXPECT_EQ(graph.error().code(), Code::dtype_mismatch) << graph.error().text();
  }
}

}  // namespace
}  // namespace tenon::compiler
