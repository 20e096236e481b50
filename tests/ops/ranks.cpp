// SPDX-License-Identifier: Apache-2.0
// A graph with unknown ranks may get operands of any shape at run time: every op's samples with one operand of another shape, or with
// integers that are no valid sizes. Each gives results or one error.
#include <gtest/gtest.h>

#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

/// Other shapes than `shape`: of every lower rank, one higher, empty, and with each axis longer or of size 1.
std::vector<Sizes> other_shapes(const Sizes& shape) {
  std::vector<Sizes> out = {{}, {0}, {1}, {2, 3}, {1, 1, 1}, {2, 1, 3, 1}, {1, 2, 1, 2, 1}};
  for (size_t a = 0; a < shape.size(); ++a) {
    for (int64_t size : {int64_t{0}, int64_t{1}, shape[a] + 1}) {
      out.push_back(shape);
      out.back()[a] = size;
    }
  }
  out.push_back(shape);
  out.back().push_back(2);
  return out;
}

Tensor with_shape(const Tensor& t, const Sizes& shape) {
  Tensor out = *Tensor::make(t.dtype(), shape);
  for (int64_t i = 0; i < out.count() && t.count() > 0; ++i) {
    if (t.dtype() == DType::string) out.mutable_strings()[static_cast<size_t>(i)] = t.strings()[static_cast<size_t>(i % t.count())];
    else if (is_float(t.dtype())) out.set_number(i, t.number(i % t.count()));
    else if (!is_complex(t.dtype())) out.set_integer(i, t.integer(i % t.count()));
  }
  return out;
}

Tensor filled(const Tensor& t, int64_t value) {
  Tensor out = *Tensor::make(t.dtype(), t.shape());
  for (int64_t i = 0; i < out.count(); ++i) out.set_integer(i, value);
  return out;
}

/// Evaluates the op in a graph where only the dtypes of operands are known.
Result<std::vector<Tensor>> run_unranked(const OpDef& def, const Sample& sample, const std::vector<Tensor>& operands) {
  ir::Graph graph(table());
  std::vector<ir::ValueId> ids;
  std::vector<Tensor> inputs;
  for (const Tensor& t : operands) {
    ids.push_back(t.empty_handle() ? ir::ValueId() : graph.add_input("i" + std::to_string(ids.size()), ir::Type(t.dtype())));
    if (!t.empty_handle()) inputs.push_back(t);
  }
  const ir::NodeId node = graph.insert(*table().find(def.domain, def.name), ids, sample.outputs, sample.attributes);
  TRY(ir::infer(graph, node));
  const std::vector<ir::ValueId> results = graph.node(node).outputs;
  for (ir::ValueId v : results) graph.add_output(v);
  int64_t nodes_left = 20'000;
  EvaluateOptions options;
  options.byte_limit = kMostBytes;
  options.nodes_left = &nodes_left;
  return evaluate(graph, inputs, options);
}

void expect_an_answer(const OpDef& def, const Sample& sample, const std::vector<Tensor>& operands) {
  const auto results = run_unranked(def, sample, operands);
  if (results) return;
  std::string given;
  for (const Tensor& t : operands) given += t.empty_handle() ? "_ " : type_text(t.dtype(), t.shape()) + " ";
  EXPECT_NE(results.error().code(), Code::internal) << given << results.error().text();
}

void check_sample(const OpDef& def, std::string_view text) {
  SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
  auto sample = parse_sample(def, text);
  ASSERT_TRUE(sample) << sample.error().text();
  auto made = build_sample(def, *sample, 1);
  ASSERT_TRUE(made) << made.error().text();
  std::vector<Tensor> operands = made->operands;
  expect_an_answer(def, *sample, operands);
  for (Tensor& operand : operands) {
    if (operand.empty_handle()) continue;
    const Tensor kept = operand;
    for (const Sizes& shape : other_shapes(kept.shape())) {
      operand = with_shape(kept, shape);
      expect_an_answer(def, *sample, operands);
    }
    if (is_integer(kept.dtype())) {
      for (int64_t value : {INT64_MIN, INT64_MAX, -(int64_t{1} << 61), int64_t{1} << 40, int64_t{INT32_MIN}, int64_t{-1}, int64_t{0}}) {
        operand = filled(kept, value);
        expect_an_answer(def, *sample, operands);
      }
    }
    operand = kept;
  }
}

class Ranks : public testing::TestWithParam<const OpDef*> {};

TEST_P(Ranks, OperandsOfUndeclaredRankGiveResultsOrOneError) {
  for (std::string_view text : GetParam()->samples) check_sample(*GetParam(), text);
}

INSTANTIATE_TEST_SUITE_P(EveryOp, Ranks, testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const testing::TestParamInfo<const OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

}  // namespace
}  // namespace tenon::ops
