// SPDX-License-Identifier: Apache-2.0
// Upgrades of nodes of old opsets, and downgrades, compared with the newest versions.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

/// Upgrades one node of an old opset with one f32 operand, and evaluates it.
Result<Tensor> run_upgraded(std::string_view name, int opset, ir::Attributes attributes, const Tensor& x) {
  ir::Graph graph(table());
  DimList shape;
  for (int64_t d : x.shape()) shape.push_back(d);
  const ir::ValueId in = graph.add_input("x", ir::Type(x.dtype(), shape));
  const ir::Op* op = table().find("", name);
  const ir::NodeId node = graph.insert(*op, {in}, 1, std::move(attributes));
  graph.add_output(graph.node(node).outputs[0]);
  TRY(def_of(*op).upgrade(graph, node, opset));
  TRY(ir::infer_all(graph));
  return TRY(evaluate(graph, std::vector<Tensor>{x}))[0];
}

Tensor counted(Sizes shape) {
  Tensor t = *Tensor::make(DType::f32, std::move(shape));
  for (int64_t i = 0; i < t.count(); ++i) t.set_number(i, 0.1 * static_cast<double>(i * i % 7));
  return t;
}

TEST(Upgrade, OldSoftmaxNormalisesOverAllAxesFromItsAxis) {
  const Tensor x = counted({2, 3, 4});
  auto y = run_upgraded("Softmax", 11, {}, x);  // the axis was 1 by default
  ASSERT_TRUE(y) << y.error().text();
  ASSERT_EQ(y->shape(), x.shape());
  for (int64_t row = 0; row < 2; ++row) {
    double sum = 0, weight = 0;
    for (int64_t i = 0; i < 12; ++i) weight += std::exp(x.number(row * 12 + i));
    for (int64_t i = 0; i < 12; ++i) sum += y->number(row * 12 + i);
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_NEAR(y->number(row * 12 + 5), std::exp(x.number(row * 12 + 5)) / weight, 1e-6);
  }
}

TEST(Upgrade, OldReductionsTakeAxesFromAnAttribute) {
  const Tensor x = counted({2, 3, 4});
  for (std::string_view name : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp"}) {
    ir::Attributes attributes;
    attributes.set("axes", ir::Ints{-1, 0});
    attributes.set("keepdims", int64_t{0});
    auto y = run_upgraded(name, 11, attributes, x);
    ASSERT_TRUE(y) << y.error().text();
    EXPECT_EQ(y->shape(), Sizes{3}) << name;
  }
}

/// Evaluates a Scan of opset 8: running sums, from the last step to the first, over a batch of two sequences of three numbers. lengths:
/// i64[2] or none.
Result<std::vector<Tensor>> scanned_of_opset_8(std::optional<Tensor> lengths) {
  ir::Graph graph(table());
  const ir::ValueId start = graph.add_input("start", ir::Type(DType::f32, {2, 1})),
                    x = graph.add_input("x", ir::Type(DType::f32, {2, 3, 1}));
  const ir::ValueId length = lengths ? graph.add_input("lengths", ir::Type(DType::i64, {2})) : ir::ValueId{};
  ir::Attributes attributes;
  attributes.set("num_scan_inputs", int64_t{1});
  attributes.set("directions", ir::Ints{1});
  const ir::Op& scan = *table().find("", "Scan");
  const ir::NodeId node = graph.insert(scan, {length, start, x}, 2, attributes);
  auto body = ir::Graph::body_of(graph);
  const ir::ValueId sum = body->add_input("sum", ir::Type(DType::f32, {1})), next = body->add_input("next", ir::Type(DType::f32, {1}));
  ir::Builder build(*body);
  const ir::ValueId total = build("Add", {sum, next});
  body->add_output(total);
  body->add_output(build("Identity", {total}));
  graph.attach_body(node, "body", std::move(body), {});
  for (ir::ValueId v : std::vector<ir::ValueId>(graph.node(node).outputs)) graph.add_output(v);
  TRY(def_of(scan).upgrade(graph, node, 8));
  TRY(ir::infer_all(graph));
  Tensor first = *Tensor::make(DType::f32, {2, 1}), rows = *Tensor::make(DType::f32, {2, 3, 1});
  for (int64_t i = 0; i < 6; ++i) rows.set_number(i, static_cast<double>(i + 1));
  first.set_number(1, 100);
  std::vector<Tensor> inputs{first, rows};
  if (lengths) inputs.push_back(*lengths);
  return evaluate(graph, inputs);
}

void expect_scanned(std::optional<std::vector<int64_t>> lengths, std::vector<double> last, std::vector<double> running) {
  const auto results = scanned_of_opset_8(lengths ? std::optional(Tensor::of_i64({2}, *lengths)) : std::nullopt);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ((*results)[1].shape(), (Sizes{2, 3, 1}));
  for (int64_t i = 0; i < 2; ++i) EXPECT_EQ((*results)[0].number(i), last[static_cast<size_t>(i)]) << i;
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ((*results)[1].number(i), running[static_cast<size_t>(i)]) << i;
}

TEST(Upgrade, OldScanRunsOnceForEachEntryOfItsBatch) { expect_scanned(std::nullopt, {6, 115}, {3, 5, 6, 106, 111, 115}); }

TEST(Upgrade, OldScanEndsAtTheLengthOfEachEntry) {
  expect_scanned(std::vector<int64_t>{2, 3}, {3, 115}, {2, 3, 0, 106, 111, 115});
  expect_scanned(std::vector<int64_t>{3, 1}, {6, 104}, {3, 5, 6, 104, 0, 0});
  expect_scanned(std::vector<int64_t>{1, 0}, {1, 100}, {1, 0, 0, 0, 0, 0});
}

/// A length is clamped to the sequence, a negative one counts from its end as in Slice: nothing outside is read.
TEST(Upgrade, OldScanOfALengthOutOfRangeStaysInsideTheSequence) {
  expect_scanned(std::vector<int64_t>{7, 3}, {6, 115}, {3, 5, 6, 106, 111, 115});
}

TEST(Downgrade, ConstantAxesBecomeAnAttributeAgain) {
  ir::Graph graph(table());
  ir::Builder build(graph);
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {2, 3}));
  const ir::ValueId y = build("ReduceMean", {x, build.ints({1})});
  ASSERT_TRUE(build.status());
  graph.add_output(y);
  const ir::NodeId node = graph.value(y).producer;
  const OpDef& def = def_of(*graph.node(node).op);
  EXPECT_EQ(def.lowest_opset(graph.view(node)), 7);
  ASSERT_TRUE(def.downgrade(graph, node, 13));
  EXPECT_EQ(graph.node(node).attributes.ints("axes"), ir::Ints{1});
}

}  // namespace
}  // namespace tenon::ops
