// SPDX-License-Identifier: Apache-2.0
// Every op at older opsets: its samples are exported, read back and evaluated; the results must equal those of the op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "model_bytes.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::import::testing {
namespace {

/// Ops of the model families: opset 13 can express all their cases except those of kNewer.
const std::set<std::string_view> kFamilies = {"Add",
                                              "And",
                                              "ArgMax",
                                              "Attention",
                                              "AveragePool",
                                              "BatchNormalization",
                                              "Cast",
                                              "CastLike",
                                              "Clip",
                                              "Concat",
                                              "Conv",
                                              "Cos",
                                              "CumSum",
                                              "Div",
                                              "Equal",
                                              "Erf",
                                              "Exp",
                                              "Expand",
                                              "Flatten",
                                              "Gather",
                                              "GatherElements",
                                              "Gelu",
                                              "Gemm",
                                              "GlobalAveragePool",
                                              "Greater",
                                              "GreaterOrEqual",
                                              "GroupNormalization",
                                              "HardSigmoid",
                                              "HardSwish",
                                              "Identity",
                                              "IsInf",
                                              "IsNaN",
                                              "LayerNormalization",
                                              "Less",
                                              "LessOrEqual",
                                              "Log",
                                              "LogSoftmax",
                                              "MatMul",
                                              "Max",
                                              "MaxPool",
                                              "Min",
                                              "Mish",
                                              "Mod",
                                              "Mul",
                                              "Neg",
                                              "Not",
                                              "Or",
                                              "Pad",
                                              "Pow",
                                              "RMSNormalization",
                                              "Range",
                                              "Reciprocal",
                                              "ReduceMax",
                                              "ReduceMean",
                                              "ReduceMin",
                                              "ReduceSum",
                                              "Relu",
                                              "Reshape",
                                              "Resize",
                                              "RotaryEmbedding",
                                              "ScatterElements",
                                              "ScatterND",
                                              "Shape",
                                              "Sigmoid",
                                              "Sin",
                                              "Slice",
                                              "Softmax",
                                              "Softplus",
                                              "Split",
                                              "Sqrt",
                                              "Squeeze",
                                              "Sub",
                                              "Swish",
                                              "Tanh",
                                              "Tile",
                                              "TopK",
                                              "Transpose",
                                              "Trilu",
                                              "Unsqueeze",
                                              "Where"};

/// Parts of "Op: sample".
constexpr std::string_view kNewer[] = {"u8[3], u8[3]",
                                       "dilations=[2,2], pads",
                                       "AveragePool: f16[1,2,9,8]; kernel_shape=[5,5], pads=[2,2,2,2], dilations",
                                       "SAME_UPPER, dilations",
                                       "training_mode",
                                       "mode=wrap",
                                       "noop_with_empty_axes",
                                       "Relu: i",
                                       "reduction=",
                                       "axes=[1], mode",
                                       "antialias",
                                       "keep_aspect",
                                       "half_pixel_symmetric",
                                       "f8e4m3fn",
                                       "to=17"};

double tolerance_of(DType dtype) { return dtype == DType::f64 ? 1e-9 : dtype == DType::f32 ? 1e-5 : 4e-3; }

void expect_same(const Tensor& want, const Tensor& got) {
  ASSERT_EQ(type_text(want.dtype(), want.shape()), type_text(got.dtype(), got.shape()));
  if (want.dtype() == DType::string) {
    EXPECT_EQ(want.strings(), got.strings());
    return;
  }
  for (int64_t i = 0; i < want.count(); ++i) {
    const double a = want.number(i), b = got.number(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    EXPECT_NEAR(a, b, tolerance_of(want.dtype()) * std::max(1.0, std::abs(a))) << "element " << i;
  }
}

/// Refusals are said by their opset; anything else that goes wrong fails. True where the opset said it.
bool check(const ops::OpDef& def, std::string_view text, int64_t opset) {
  auto sample = ops::parse_sample(def, text);
  EXPECT_TRUE(sample);
  auto made = ops::build_sample(def, *sample, 11);
  EXPECT_TRUE(made);
  auto want = ops::evaluate(*made->graph, made->inputs);
  ExportOptions options;
  options.opset = opset;
  auto bytes = export_onnx_bytes(*made->graph, options);
  if (!bytes && bytes.error().code() == Code::not_supported) return false;
  EXPECT_TRUE(bytes) << bytes.error().text();
  if (!want || !bytes) return false;
  auto back = import_bytes(*bytes);
  EXPECT_TRUE(back) << back.error().text();
  if (!back) return false;
  auto got = ops::evaluate(*back->graph, made->inputs);
  EXPECT_TRUE(got) << got.error().text();
  for (size_t k = 0; got && k < want->size(); ++k) expect_same((*want)[k], (*got)[k]);
  return true;
}

class Opsets : public ::testing::TestWithParam<int64_t> {};

TEST_P(Opsets, MeanWhatTheOpMeans) {
  int said = 0, refused = 0;
  for (const ops::OpDef* def : ops::all_ops()) {
    if (!def->domain.empty() || !def->deterministic) continue;
    for (std::string_view text : def->samples) {
      const std::string label = std::string(def->name) + ": " + std::string(text);
      SCOPED_TRACE(label);
      const bool done = check(*def, text, GetParam());
      ++(done ? said : refused);
      if (done || GetParam() < 13 || !kFamilies.contains(def->name)) continue;
      EXPECT_TRUE(std::ranges::any_of(kNewer, [&](std::string_view part) { return label.contains(part); })) << "refused";
    }
  }
  EXPECT_GT(said, refused);
}

INSTANTIATE_TEST_SUITE_P(Older, Opsets, ::testing::Values(11, 13, 17, 21));

}  // namespace
}  // namespace tenon::import::testing
