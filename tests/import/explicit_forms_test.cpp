// SPDX-License-Identifier: Apache-2.0
// Export writes the spelling that all readers take alike, where a schema allows more than one.
#include <gtest/gtest.h>

#include "import/onnx_export.h"
#include "import/onnx_parse.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::import::testing {
namespace {

/// The model at an opset, kept with the bytes that it points into; or the text of the error.
struct Written {
  std::string bytes, error;
  OnnxModel model;

  Written(std::string_view text, int64_t opset) {
    const auto graph = ir::parse(text, ops::table());
    EXPECT_TRUE(graph) << graph.error().text();
    ExportOptions options;
    options.opset = opset;
    auto made = graph ? export_onnx_bytes(**graph, options) : Result<std::string>(std::string());
    if (!made) {
      error = made.error().text();
      return;
    }
    bytes = *std::move(made);
    auto parsed = parse_onnx(bytes, "model");
    EXPECT_TRUE(parsed) << parsed.error().text();
    if (parsed) model = *std::move(parsed);
  }

  /// The op types of the nodes.
  std::string nodes() const {
    std::string out;
    for (const OnnxNode& n : model.graph.nodes) out += (out.empty() ? "" : " ") + std::string(n.op);
    return out;
  }
  const OnnxAttribute* attribute(std::string_view name) const {
    for (const OnnxAttribute& a : model.graph.nodes.back().attributes)
      if (a.name == name) return &a;
    return nullptr;
  }
  std::optional<int64_t> number(std::string_view name) const {
    const OnnxAttribute* a = error.empty() ? attribute(name) : nullptr;
    return a ? std::optional(a->integer) : std::nullopt;
  }
  std::vector<int64_t> numbers(std::string_view name) const {
    const OnnxAttribute* a = error.empty() ? attribute(name) : nullptr;
    return a ? a->ints : std::vector<int64_t>();
  }
};

TEST(ExplicitForms, AxesCountFromZeroBelowOpset11) {
  const std::string_view flatten = "graph main(x: f32[2,3,4]) { y = Flatten(x, axis=-1) return y }";
  EXPECT_EQ(Written(flatten, 10).number("axis"), 2);
  EXPECT_EQ(Written(flatten, 11).number("axis"), -1);
  const std::string_view concat = "graph main(x: f32[2,3], z: f32[2,1]) { y = Concat(x, z, axis=-1) return y }";
  EXPECT_EQ(Written(concat, 9).number("axis"), 1);
  const std::string_view squeeze = "graph main(x: f32[1,2,1]) { const a_: i64[2] = [0, -1] y = Squeeze(x, a_) return y }";
  EXPECT_EQ(Written(squeeze, 10).numbers("axes"), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(Written(squeeze, 11).numbers("axes"), (std::vector<int64_t>{0, -1}));
  const std::string_view unsqueeze = "graph main(x: f32[2,3]) { const a_: i64[2] = [0, -1] y = Unsqueeze(x, a_) return y }";
  EXPECT_EQ(Written(unsqueeze, 10).numbers("axes"), (std::vector<int64_t>{0, 3})) << "counted in the result";
}

TEST(ExplicitForms, OperandsThatBroadcastNeedOpset8InVariadicOps) {
  for (std::string_view op : {"Sum", "Mean", "Min", "Max"}) {
    const std::string apart = "graph main(x: f32[2,1], z: f32[3]) { y = " + std::string(op) + "(x, z) return y }";
    const std::string same = "graph main(x: f32[n,3], z: f32[n,3]) { y = " + std::string(op) + "(x, z) return y }";
    EXPECT_TRUE(Written(apart, 7).error.contains("opset 8 or newer")) << op;
    EXPECT_EQ(Written(apart, 8).nodes(), op);
    EXPECT_EQ(Written(same, 7).nodes(), op);
  }
}

TEST(ExplicitForms, RecurrentLayersStateTheirHiddenSize) {
  const Written gru("graph main(x: f32[4,2,3], w: f32[1,15,3], r: f32[1,15,5]) { y = GRU(x, w, r) return y }", 14);
  EXPECT_EQ(gru.number("hidden_size"), 5) << gru.error;
  const Written lstm("graph main(x: f32[4,2,3], w: f32[1,20,3], r: f32[1,20,5]) { y = LSTM(x, w, r) return y }", 22);
  EXPECT_EQ(lstm.number("hidden_size"), 5) << lstm.error;
  const Written rnn("graph main(x: f32[4,2,3], w: f32[1,5,3], r: f32[1,5,5]) { y = RNN(x, w, r) return y }", 14);
  EXPECT_EQ(rnn.number("hidden_size"), 5) << rnn.error;
  const Written open("graph main(x: f32[4,2,3], w: f32[1,h,3], r: f32[1,h,k]) { y = RNN(x, w, r) return y }", 14);
  EXPECT_EQ(open.nodes(), "RNN") << open.error;
  EXPECT_EQ(open.number("hidden_size"), std::nullopt);
}

TEST(ExplicitForms, StftStatesThatItIsOnesided) {
  const Written stft("graph main(x: f32[1,32,1], w: f32[16]) { const a_: i64[] = 8 y = STFT(x, a_, w) return y }", 17);
  EXPECT_EQ(stft.number("onesided"), 1) << stft.error;
  const Written both("graph main(x: f32[1,32,1], w: f32[16]) { const a_: i64[] = 8 y = STFT(x, a_, w, onesided=0) return y }", 17);
  EXPECT_EQ(both.number("onesided"), 0) << both.error;
}

TEST(ExplicitForms, PartsAreListedWhereTheLastOneIsEmpty) {
  const Written uneven("graph main(x: f32[5]) { a, b, c, d = Split(x, num_outputs=4) return a, b, c, d }", 18);
  ASSERT_EQ(uneven.error, "");
  EXPECT_EQ(uneven.model.graph.nodes[0].inputs.size(), 2u);
  EXPECT_EQ(uneven.number("num_outputs"), std::nullopt);
  const Written even("graph main(x: f32[5]) { a, b, c = Split(x, num_outputs=3) return a, b, c }", 18);
  EXPECT_EQ(even.number("num_outputs"), 3) << "2, 2 and 1";
}

TEST(ExplicitForms, EllipsesCoverEquallyManyAxes) {
  const std::string_view text = "graph main(x: f32[5,1,3,4], z: f32[2,4,3]) { y = Einsum(x, z, equation=\"...ij,...jk->...ik\") return y }";
  EXPECT_EQ(Written(text, 13).nodes(), "Unsqueeze Einsum");
  EXPECT_EQ(Written(text, 28).nodes(), "Unsqueeze Einsum");
  const std::string_view equal = "graph main(x: f32[5,3,4], z: f32[1,4,3]) { y = Einsum(x, z, equation=\"...ij,...jk->...ik\") return y }";
  EXPECT_EQ(Written(equal, 28).nodes(), "Einsum");
}

TEST(ExplicitForms, ReshapesOfNothingStateTheirSizes) {
  const std::string_view text = "graph main(x: f32[0,3]) { const a_: i64[2] = [0, -1] y = Reshape(x, a_) return y }";
  for (int64_t opset : {7, 14, 28}) {
    const Written reshape(text, opset);
    ASSERT_EQ(reshape.error, "");
    ASSERT_EQ(reshape.model.graph.initializers.size(), 1u);
    const std::string_view sizes = reshape.model.graph.initializers[0].raw.value_or("");
    ASSERT_EQ(sizes.size(), 16u);
    EXPECT_EQ(sizes.substr(8), std::string_view("\3\0\0\0\0\0\0\0", 8)) << opset;
  }
}

TEST(ExplicitForms, AxesOfPadAreI64) {
  const Written pad("graph main(x: f32[2,3]) { const a_: i64[2] = [1, 1] const b_: i32[1] = [1] y = Pad(x, a_, _, b_) return y }", 18);
  ASSERT_EQ(pad.error, "");
  ASSERT_EQ(pad.model.graph.initializers.size(), 2u);
  for (const OnnxTensor& t : pad.model.graph.initializers) EXPECT_EQ(t.dtype, static_cast<int64_t>(DType::i64));
}

TEST(ExplicitForms, InexpressibleNodesAreRefusedOrFunctions) {
  const std::string_view hot = "graph main(x: i64[2]) { const a_: i64[2] = [0, -1] const b_: i64[] = 3 y = OneHot(a_, b_, x) return y }";
  EXPECT_TRUE(Written(hot, 10).error.contains("opset 11 or newer"));
  EXPECT_EQ(Written(hot, 11).nodes(), "OneHot");
  const Written window("graph main() { const a_: i64[] = 0 y = HannWindow(a_) return y }", 17);
  EXPECT_TRUE(window.error.contains("no version of the op in ONNX says this case")) << window.error;
  const Written mod("graph main(x: f32[2], z: f32[2]) { y = Mod(x, z) return y }", 13);
  EXPECT_TRUE(mod.error.contains("no version of the op in ONNX says this case")) << mod.error;
  const Written mixed("graph main(x: f32[2,8], s: f16[8]) { y = RMSNormalization(x, s) return y }", 23);
  EXPECT_EQ(mixed.model.functions.size(), 1u) << mixed.error;
}

}  // namespace
}  // namespace tenon::import::testing
