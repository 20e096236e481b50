// SPDX-License-Identifier: Apache-2.0
// Steps that run by reference keep their whole attributes and constants, and one that cannot be made is an error of the build.
#include <gtest/gtest.h>

#include <numeric>

#include "compiler/backends.h"
#include "compiler/check_segments.h"
#include "helpers.h"
#include "ir/builder.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kMany = 100;  // more than a text has inline

std::vector<std::string> words() {
  std::vector<std::string> out;
  for (int64_t k = 0; k < kMany; ++k) out.push_back("word \"" + std::to_string(k) + "\"\n");
  return out;
}

Tensor numbers(DType dtype) {
  Tensor out = *Tensor::make(dtype, {kMany});
  for (int64_t k = 0; k < kMany; ++k) out.set_number(k, static_cast<double>(k) / 2);
  return out;
}

/// LabelEncoder(x) with keys and values as tensor attributes.
std::unique_ptr<ir::Graph> encoder(Tensor keys, Tensor values) {
  auto graph = std::make_unique<ir::Graph>(ops::table());
  const ir::ValueId x = graph->add_input("x", ir::Type(keys.dtype(), {graph->symbols().symbol("n")}));
  ir::Builder build(*graph);
  const ir::ValueId y = build("ai.onnx.ml::LabelEncoder", {x},
                              {{"keys_tensor", ir::Attribute(std::move(keys))}, {"values_tensor", ir::Attribute(std::move(values))}});
  EXPECT_TRUE(build.status()) << build.status().error().text();
  graph->add_output(y, "y");
  return graph;
}

void expect_values(const Tensor& keys, const Tensor& values) {
  for (const int opt : {0, 3}) {
    const auto got = testing::compiled_results(encoder(keys, values), std::vector{keys}, opt);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(testing::difference(values, (*got)[0], 0), "") << "opt " << opt;
  }
}

TEST(OpaqueAttributes, LargeTensorsReachTheReferenceFunction) {
  std::vector<int64_t> keys(kMany);
  std::iota(keys.begin(), keys.end(), 0);
  for (const DType dtype : {DType::f32, DType::f64}) expect_values(Tensor::of_i64({kMany}, keys), numbers(dtype));
}

TEST(OpaqueAttributes, LargeStringTensorsReachTheReferenceFunction) {
  expect_values(Tensor::of_strings({kMany}, words()), numbers(DType::f32));
  std::vector<int64_t> keys(kMany);
  std::iota(keys.begin(), keys.end(), 0);
  expect_values(Tensor::of_i64({kMany}, keys), Tensor::of_strings({kMany}, words()));
}

TEST(OpaqueAttributes, LargeStringConstantsReachTheReferenceFunction) {
  const Tensor table = Tensor::of_strings({kMany}, words());
  const std::vector<int64_t> at = {0, 99, 7};
  for (const int opt : {0, 3}) {
    auto graph = std::make_unique<ir::Graph>(ops::table());
    const ir::ValueId x = graph->add_input("x", ir::Type(DType::i64, {graph->symbols().symbol("n")}));
    ir::Builder build(*graph);
    graph->add_output(build("Gather", {build.constant(table), x}), "y");
    ASSERT_TRUE(build.status()) << build.status().error().text();
    const auto got = testing::compiled_results(std::move(graph), std::vector{Tensor::of_i64({3}, at)}, opt);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].strings(), (std::vector{words()[0], words()[99], words()[7]}));
  }
}

/// A linked program of one segment, whose text is that.
program::LinkedPrograms built_of(std::string text) {
  program::LinkedPrograms built;
  runtime::Step step;
  step.kind = runtime::SegmentStep();
  step.label = "node 'tree' (TreeEnsemble)";
  runtime::Program body;
  body.steps = {step};
  body.blobs = {{"reference", std::move(text)}};
  built.programs = std::move(body);
  return built;
}

TEST(CheckSegments, TextThatCannotBeReadIsAnErrorWithItsNode) {
  const runtime::Devices devices = all_devices(ops::table());
  EXPECT_TRUE(check_segments(built_of("graph(x: f32[2]) { y = Relu(x) return y }"), devices));
  const auto refused = check_segments(built_of("graph(x: f32[2]) { y = Relu(x, k=f32[9] = digest(\"0\")) return y }"), devices);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("node 'tree'"), std::string::npos) << refused.error().text();
}

}  // namespace
}  // namespace tenon::compiler
