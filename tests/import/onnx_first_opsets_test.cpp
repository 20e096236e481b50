// SPDX-License-Identifier: Apache-2.0
// Nodes of opsets 1 to 6 are upgraded to equivalent nodes of newer opsets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "import/onnx_import.h"
#include "model_bytes.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::import::testing {
namespace {

using ir::Floats;
using ir::Ints;

/// Elements 1, 2, 3, ... of the shape, or those given.
Tensor of(DType dtype, Sizes shape, std::vector<double> values = {}) {
  Tensor out = *Tensor::make(dtype, std::move(shape));
  for (int64_t i = 0; i < out.count(); ++i) out.set_number(i, values.empty() ? static_cast<double>(i + 1) : values[static_cast<size_t>(i)]);
  return out;
}
Tensor f32(Sizes shape, std::vector<double> values = {}) { return of(DType::f32, std::move(shape), std::move(values)); }
Tensor i64(Sizes shape, std::vector<double> values) { return of(DType::i64, std::move(shape), std::move(values)); }

struct NodeAt {
  int64_t opset;
  std::vector<Tensor> inputs;  ///< an empty handle: missing
  std::vector<std::pair<std::string, ir::Attribute>> attributes = {};
};

std::string initializer(const std::string& name, const Tensor& t) {
  std::string out = tensor_head(name, t.dtype(), t.shape());
  Writer(out).add_bytes(schema::tensor::kRawData, reinterpret_cast<const char*>(t.data()), static_cast<size_t>(t.byte_size()));
  return out;
}

Result<std::vector<Tensor>> run(std::string_view op, const NodeAt& at, size_t outputs = 1) {
  GraphBytes graph;
  std::vector<std::string> names, results, attributes;
  for (size_t k = 0; k < at.inputs.size(); ++k) {
    names.push_back(at.inputs[k].empty_handle() ? "" : "in" + std::to_string(k));
    if (!names.back().empty()) graph.initializer(initializer(names.back(), at.inputs[k]));
  }
  for (const auto& [name, value] : at.attributes) attributes.push_back(attribute(name, value));
  for (size_t k = 0; k < outputs; ++k) {
    results.push_back("out" + std::to_string(k));
    graph.output(results.back(), DType::none, {});
  }
  graph.node(node(op, names, results, attributes));
  auto imported = TRY(import_bytes(model(graph, at.opset)));
  return ops::evaluate(*imported.graph, {});
}

void expect_equal(std::string_view op, const NodeAt& old, const NodeAt& now, std::string_view now_op = {}, size_t outputs = 1) {
  SCOPED_TRACE(std::string(op) + " at opset " + std::to_string(old.opset));
  const auto got = run(op, old, outputs), want = run(now_op.empty() ? op : now_op, now, outputs);
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_TRUE(want) << want.error().text();
  for (size_t k = 0; k < want->size(); ++k) {
    const Tensor &a = (*got)[k], &b = (*want)[k];
    ASSERT_EQ(type_text(a.dtype(), a.shape()), type_text(b.dtype(), b.shape()));
    for (int64_t i = 0; i < a.count(); ++i) {
      const double x = a.number(i), y = b.number(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      EXPECT_NEAR(x, y, 1e-6 * std::fabs(y)) << "element " << i;
    }
  }
}

void expect_refused(std::string_view op, const NodeAt& at, Code code, std::string_view word, size_t outputs = 1) {
  const auto got = run(op, at, outputs);
  ASSERT_FALSE(got) << op;
  EXPECT_EQ(got.error().code(), code) << got.error().text();
  EXPECT_TRUE(got.error().text().contains(word)) << got.error().text();
}

constexpr std::string_view kPairs[] = {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"};

DType dtype_for(std::string_view op) {
  return op == "And" || op == "Or" || op == "Xor" ? DType::boolean : op == "Equal" ? DType::i32 : DType::f32;
}

TEST(FirstOpsets, SecondOperandBroadcastsAtAnAxis) {
  for (std::string_view op : kPairs) {
    const DType d = dtype_for(op);
    const Tensor a = of(d, {2, 3}, {0, 1, 2, 3, 4, 0}), b = of(d, {2}, {2, 0}), column = of(d, {2, 1}, {2, 0});
    for (int64_t axis : {0, -2}) expect_equal(op, {6, {a, b}, {{"broadcast", int64_t{1}}, {"axis", axis}}}, {13, {a, column}});
    const Tensor row = of(d, {3}, {2, 0, 1});
    for (int64_t axis : {1, -1}) expect_equal(op, {6, {a, row}, {{"broadcast", int64_t{1}}, {"axis", axis}}}, {13, {a, row}});
    expect_equal(op, {6, {a, row}, {{"broadcast", int64_t{1}}}}, {13, {a, row}});
    expect_equal(op, {1, {a, a}, {{"consumed_inputs", Ints{0, 0}}}}, {13, {a, a}});
    expect_refused(op, {6, {a, row}}, Code::shape_mismatch, "broadcast=1");
    expect_refused(op, {6, {a, b}, {{"broadcast", int64_t{1}}, {"axis", int64_t{2}}}}, Code::shape_mismatch, "does not fit at axis 2");
    expect_refused(op, {7, {a, row}, {{"broadcast", int64_t{1}}}}, Code::bad_attribute, "broadcast");
  }
}

TEST(FirstOpsets, InPlaceHintsChangeNothing) {
  const Tensor x = f32({2, 3});
  for (std::string_view op : {"Abs", "Ceil", "Elu", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu",
                              "Sigmoid", "Sqrt", "Tanh", "Sum", "Max", "Min", "Mean"}) {
    expect_equal(op, {1, {x}, {{"consumed_inputs", Ints{0}}}}, {13, {x}});
    expect_refused(op, {6, {x}, {{"consumed_inputs", Ints{0}}}}, Code::bad_attribute, "consumed_inputs");
  }
}

TEST(FirstOpsets, AttributesThatChanged) {
  const Tensor x = f32({2, 3}), image = f32({1, 1, 2, 3});
  expect_equal("Cast", {1, {x}, {{"to", std::string("INT64")}}}, {13, {x}, {{"to", static_cast<int64_t>(DType::i64)}}});
  expect_equal("Cast", {1, {x}, {{"to", std::string("DOUBLE")}}}, {13, {x}, {{"to", static_cast<int64_t>(DType::f64)}}});
  expect_refused("Cast", {1, {x}, {{"to", std::string("FLOAT99")}}}, Code::bad_attribute, "FLOAT99");
  expect_equal("Concat", {1, {x, x}}, {13, {x, x}, {{"axis", int64_t{1}}}});
  expect_refused("Concat", {4, {x, x}}, Code::bad_attribute, "axis");
  expect_equal("Selu", {1, {f32({2}, {-1, 1})}}, {13, {f32({2}, {-1, 1})}, {{"alpha", 1.6732f}, {"gamma", 1.0507f}}});
  expect_equal("Pad", {1, {x}, {{"paddings", Ints{0, 1, 2, 0}}, {"value", 7.f}}}, {13, {x, i64({4}, {0, 1, 2, 0}), f32({}, {7})}});
  expect_equal("Clip", {1, {x}, {{"min", 2.f}, {"consumed_inputs", Ints{0}}}}, {13, {x, f32({}, {2})}});
  expect_equal("GlobalLpPool", {1, {image}, {{"p", 3.f}}}, {13, {image}, {{"p", int64_t{3}}}});
  expect_equal("LpPool", {1, {image}, {{"p", 3.f}, {"kernel_shape", Ints{2, 2}}}},
               {13, {image}, {{"p", int64_t{3}}, {"kernel_shape", Ints{2, 2}}}});
  expect_refused("GlobalLpPool", {1, {image}, {{"p", 2.5f}}}, Code::not_supported, "no whole number");
  const Tensor square = f32({3, 3});
  expect_equal("Gemm", {6, {x, square, f32({3})}, {{"broadcast", int64_t{1}}}}, {13, {x, square, f32({3})}});
}

TEST(FirstOpsets, OperandsThatChanged) {
  const Tensor x = f32({2, 3}), image = f32({1, 1, 2, 3});
  expect_equal("Reshape", {1, {x}, {{"shape", Ints{3, -1}}}}, {13, {x, i64({2}, {3, -1})}});
  expect_equal("Tile", {1, {x, f32({}, {2}), f32({}, {1})}}, {13, {x, i64({2}, {1, 2})}});
  expect_equal("Tile", {1, {x, f32({1}, {3}), f32({1}, {0})}}, {13, {x, i64({2}, {3, 1})}});
  expect_equal("Split", {1, {x, f32({2}, {1, 2})}, {{"axis", int64_t{1}}}}, {13, {x, i64({2}, {1, 2})}, {{"axis", int64_t{1}}}}, {}, 2);
  expect_equal("Split", {1, {x}, {{"axis", int64_t{1}}, {"split", Ints{2, 1}}}}, {13, {x, i64({2}, {2, 1})}, {{"axis", int64_t{1}}}}, {},
               2);
  expect_equal("Upsample", {1, {image}, {{"height_scale", 2.f}, {"width_scale", 3.f}}}, {9, {image, f32({4}, {1, 1, 2, 3})}});
  expect_equal("Upsample", {1, {image}, {{"height_scale", 2.f}, {"width_scale", 2.f}, {"mode", std::string("bilinear")}}},
               {9, {image, f32({4}, {1, 1, 2, 2})}, {{"mode", std::string("linear")}}});
  expect_refused("Upsample", {1, {image}, {{"height_scale", 2.f}}}, Code::bad_attribute, "width_scale");
  expect_equal("Upsample", {7, {image}, {{"scales", Floats{1, 1, 2, 3}}}}, {9, {image, f32({4}, {1, 1, 2, 3})}});
  const Tensor channels = f32({1, 2, 2}, {-1, -2, -3, -4});
  expect_equal("PRelu", {6, {channels, f32({2}, {0.5, 0.25})}}, {13, {channels, f32({2, 1}, {0.5, 0.25})}});
  expect_equal("PRelu", {1, {channels, f32({1}, {0.5})}}, {13, {channels, f32({1}, {0.5})}});
  expect_equal("TopK", {1, {x}, {{"k", int64_t{2}}}}, {13, {x, i64({1}, {2})}}, {}, 2);
}

TEST(FirstOpsets, Recurrent) {
  const Tensor x = f32({2, 1, 2}), bias;
  for (auto [op, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
    const auto elements = [](int64_t count) {
      std::vector<double> out;
      for (int64_t i = 0; i < count; ++i) out.push_back(0.1 * static_cast<double>(i % 5) - 0.2);
      return out;
    };
    const Tensor w = f32({1, gates * 2, 2}, elements(gates * 4)), r = f32({1, gates * 2, 2}, elements(gates * 4));
    expect_equal(op, {1, {x, w, r}, {{"hidden_size", int64_t{2}}, {"output_sequence", int64_t{1}}}},
                 {13, {x, w, r}, {{"hidden_size", int64_t{2}}}}, {}, 2);
  }
}

TEST(FirstOpsets, TestAndTraining) {
  const Tensor x = f32({1, 2, 2}), c = f32({2});
  expect_equal("BatchNormalization",
               {1, {x, c, c, c, c}, {{"is_test", int64_t{1}}, {"consumed_inputs", Ints{0, 0, 0, 1, 1}}, {"spatial", int64_t{1}}}},
               {15, {x, c, c, c, c}});
  expect_refused("BatchNormalization", {6, {x, c, c, c, c}}, Code::not_supported, "is_test=0");
  expect_equal("Dropout", {6, {x}, {{"is_test", int64_t{1}}}}, {13, {x}}, "Identity");
  expect_equal("Dropout", {6, {x}, {{"ratio", 0.75f}}}, {13, {x, f32({}, {0.75}), of(DType::boolean, {}, {1})}});
  expect_equal("Dropout", {7, {x}, {{"ratio", 0.75f}}}, {13, {x}}, "Identity");
  const auto masked = run("Dropout", {6, {x}, {{"is_test", int64_t{1}}}}, 2);
  ASSERT_TRUE(masked) << masked.error().text();
  EXPECT_EQ(type_text((*masked)[1].dtype(), (*masked)[1].shape()), "f32[1,2,2]") << "a mask of the data's dtype";
  EXPECT_EQ((*masked)[1].number(3), 1);
}

TEST(FirstOpsets, UnknownOpsAreRefusedByName) {
  for (std::string_view op : {"Affine", "ImageScaler", "Crop", "ScaledTanh", "ParametricSoftplus", "GivenTensorFill", "MaxRoiPool"})
    expect_refused(op, {1, {f32({1, 1, 2, 2})}}, Code::not_supported, op);
  expect_refused("Relu", {-1, {f32({2})}}, Code::not_supported, "opset -1");
}

}  // namespace
}  // namespace tenon::import::testing
