// SPDX-License-Identifier: Apache-2.0
// Ops of ai.onnx.ml: cases that samples cannot express, strings, and invalid models.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

/// One node with operand `x`. Errors: those of inference and of the run.
Result<std::vector<Tensor>> run(std::string_view domain, std::string_view name, const Tensor& x,
                                std::vector<std::pair<std::string, ir::Attribute>> attributes, size_t outputs = 1, int version = 0) {
  ir::Graph graph(table());
  DimList shape;
  for (int64_t d : x.shape()) shape.push_back(d);
  const ir::ValueId in = graph.add_input("x", ir::Type(x.dtype(), shape));
  ir::Attributes all;
  for (auto& [key, value] : attributes) all.set(key, value);
  const ir::NodeId node = graph.insert(*table().find(domain, name), {in}, outputs, std::move(all));
  if (version > 0) TRY(def_of(*graph.node(node).op).upgrade(graph, node, version));
  TRY(ir::infer(graph, node));
  for (ir::ValueId v : graph.node(node).outputs) graph.add_output(v);
  return evaluate(graph, {{x}});
}

Result<std::vector<Tensor>> learned(std::string_view name, const Tensor& x, std::vector<std::pair<std::string, ir::Attribute>> attributes) {
  return run("ai.onnx.ml", name, x, std::move(attributes), name.ends_with("Classifier") ? 2 : 1);
}

void expect_refused(const Result<std::vector<Tensor>>& got, Code code, std::string_view word) {
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), code) << got.error().text();
  EXPECT_TRUE(got.error().text().contains(word)) << got.error().text();
}

Tensor row(std::vector<float> x) { return Tensor::of_f32({1, static_cast<int64_t>(x.size())}, x); }
Tensor words(ir::Strings list) { return Tensor::of_strings({static_cast<int64_t>(list.size())}, std::move(list)); }
Tensor numbers(std::vector<int64_t> list) { return Tensor::of_i64({static_cast<int64_t>(list.size())}, list); }

TEST(LabelEncoder, MapsStringsToIntegersAndBack) {
  const std::pair<std::string, ir::Attribute> texts{"cats_strings", ir::Strings{"cat", "dog"}}, places{"cats_int64s", ir::Ints{3, 5}};
  auto got = learned("CategoryMapper", words({"dog", "cow", "cat"}), {texts, places, {"default_int64", int64_t{-9}}});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(integers_of((*got)[0]), (std::vector<int64_t>{5, -9, 3}));
  got = learned("CategoryMapper", numbers({5, 4, 3}), {texts, places});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].strings(), (ir::Strings{"dog", "_Unused", "cat"}));
  expect_refused(learned("CategoryMapper", words({"dog"}), {texts}), Code::bad_attribute, "as many values as keys");
  expect_refused(learned("LabelEncoder", words({"dog"}), {{"keys_int64s", ir::Ints{1}}, {"values_int64s", ir::Ints{1}}}),
                 Code::dtype_mismatch, "another type");
}

TEST(LabelEncoder, VersionOneMapsStringsToPositions) {
  for (int version : {1, 4}) {
    const auto got = run("ai.onnx.ml", "LabelEncoder", words({"b", "z"}), {{"classes_strings", ir::Strings{"a", "b"}}}, 1, version);
    if (version == 4) return expect_refused(got, Code::bad_attribute, "classes_strings");
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(integers_of((*got)[0]), (std::vector<int64_t>{1, -1}));
  }
}

TEST(OneHot, AnUnknownCategoryIsRefusedOnRequest) {
  expect_refused(learned("OneHotEncoder", numbers({7}), {{"cats_int64s", ir::Ints{1, 2}}, {"zeros", int64_t{0}}}), Code::bad_input,
                 "no known category");
  const auto got = learned("OneHotEncoder", words({"b"}), {{"cats_strings", ir::Strings{"a", "b"}}});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(numbers_of((*got)[0]), (std::vector<double>{0, 1}));
}

/// One tree: a node, with a leaf for either result of its test.
std::vector<std::pair<std::string, ir::Attribute>> tree(ir::Ints yes = {1, 0, 0}, int64_t feature = 0, ir::Ints targets = {0, 0}) {
  return {{"nodes_treeids", ir::Ints{0, 0, 0}},
          {"nodes_nodeids", ir::Ints{0, 1, 2}},
          {"nodes_modes", ir::Strings{"BRANCH_LEQ", "LEAF", "LEAF"}},
          {"nodes_values", ir::Floats{0.5f, 0, 0}},
          {"nodes_featureids", ir::Ints{feature, 0, 0}},
          {"nodes_truenodeids", std::move(yes)},
          {"nodes_falsenodeids", ir::Ints{2, 0, 0}},
          {"target_treeids", ir::Ints{0, 0}},
          {"target_nodeids", ir::Ints{1, 2}},
          {"target_ids", std::move(targets)},
          {"target_weights", ir::Floats{1.5f, 2.5f}}};
}

TEST(Trees, WalkToALeaf) {
  for (auto [x, want] : {std::pair(0.5f, 1.5), std::pair(0.75f, 2.5), std::pair(NAN, 2.5)}) {
    const auto got = learned("TreeEnsembleRegressor", row({x}), tree());
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].number(0), want);
  }
  auto missing = tree();
  missing.emplace_back("nodes_missing_value_tracks_true", ir::Ints{1, 0, 0});
  EXPECT_EQ((*learned("TreeEnsembleRegressor", row({NAN}), missing))[0].number(0), 1.5);
}

TEST(Trees, InvalidNodeListsAreRefused) {
  expect_refused(learned("TreeEnsembleRegressor", row({0}), tree({0, 0, 0})), Code::bad_attribute, "circle");
  expect_refused(learned("TreeEnsembleRegressor", row({0}), tree({9, 0, 0})), Code::bad_attribute, "does not exist");
  expect_refused(learned("TreeEnsembleRegressor", row({0}), tree({1, 0})), Code::bad_attribute, "differ in length");
  for (int64_t feature : {-1, 1})
    expect_refused(learned("TreeEnsembleRegressor", row({0}), tree({1, 0, 0}, feature)), Code::index_out_of_range, "feature");
  expect_refused(learned("TreeEnsembleRegressor", row({0}), tree({1, 0, 0}, 0, {3, 3})), Code::index_out_of_range, "target");
  auto twice = tree();
  twice[1].second = ir::Ints{0, 1, 1};
  expect_refused(learned("TreeEnsembleRegressor", row({0}), twice), Code::bad_attribute, "one id");
}

TEST(SupportVectorMachines, ListsOfWrongLengthAreRefused) {
  using List = std::vector<std::pair<std::string, ir::Attribute>>;
  const List sound{{"classlabels_ints", ir::Ints{1, 2}},
                   {"vectors_per_class", ir::Ints{1, 1}},
                   {"coefficients", ir::Floats{1, -1}},
                   {"rho", ir::Floats{0.5f}},
                   {"support_vectors", ir::Floats{1, 2, 3, 4}}};
  const auto good = learned("SVMClassifier", row({1, 2}), sound);
  ASSERT_TRUE(good) << good.error().text();
  expect_refused(learned("SVMClassifier", row({1, 2, 3}), sound), Code::shape_mismatch, "features");
  for (const auto& [name, value] : List{{"vectors_per_class", ir::Ints{1, int64_t{1} << 62}},
                                        {"vectors_per_class", ir::Ints{-1, 3}},
                                        {"coefficients", ir::Floats{1}},
                                        {"rho", ir::Floats{}},
                                        {"support_vectors", ir::Floats{1, 2, 3}},
                                        {"prob_a", ir::Floats{1}}}) {
    List broken = sound;
    std::erase_if(broken, [&](const auto& entry) { return entry.first == name; });
    broken.emplace_back(name, value);
    expect_refused(learned("SVMClassifier", row({1, 2}), broken), Code::bad_attribute, "do not fit");
  }
}

TEST(Scores, OfOneClassAreNotTransformed) {
  expect_refused(learned("LinearRegressor", row({1}), {{"coefficients", ir::Floats{1}}, {"post_transform", std::string("LOGISTIC")}}),
                 Code::not_supported, "post_transform of one score");
  expect_refused(learned("LinearRegressor", row({1}), {{"coefficients", ir::Floats{1}}, {"post_transform", std::string("ROUND")}}),
                 Code::bad_attribute, "ROUND");
}

TEST(StringNormalizer, LettersBeyondAsciiKeepTheirCase) {
  const Tensor x = words({"\xc3\x84"});
  expect_refused(run("", "StringNormalizer", x, {{"case_change_action", std::string("LOWER")}}), Code::not_supported, "ASCII");
  const auto got = run("", "StringNormalizer", x, {{"is_case_sensitive", int64_t{1}}});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].strings(), x.strings());
}

}  // namespace
}  // namespace tenon::ops
