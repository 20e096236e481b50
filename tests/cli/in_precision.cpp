// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/in_precision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "../random_blocks.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::cli {
namespace {

bool rounds(std::string_view text) { return rounds_to_bytes(**ir::parse(text, ops::table())); }

TEST(RoundsToBytes, IsTrueWhereFloatsBecomeBytesAlone) {
  EXPECT_TRUE(rounds("graph main(x: f32[n], s: f32[], z: u8[]) { q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) return y }"));
  EXPECT_FALSE(rounds("graph main(x: u8[n], s: f32[], z: u8[]) { y = DequantizeLinear(x, s, z) return y }"));
  EXPECT_FALSE(rounds("graph main(x: f32[n]) { y = Exp(x) return y }"));
  EXPECT_FALSE(rounds("graph main(x: f32[n,3]) { y = ArgMax(x) return y }")) << "a place is no rounding";
}

/// The largest difference that rounding the operand beside a matrix in blocks makes.
double change_of(std::string_view product, bool transposed, codegen::Activations activations) {
  auto graph = *ir::parse(product, ops::table());
  const ir::NodeId node = graph->value(graph->outputs()[0]).producer;
  const ir::ConstantRef w = tests::random_blocks(*block_format_named("Q4_1"), 6, 64, 1);
  graph->set_operand(node, 1, graph->add_constant(transposed ? w : ir::permute(w, {1, 0})));
  const auto rounded = in_precision(*graph, {.activations = activations});
  EXPECT_TRUE(rounded) << rounded.error().text();
  const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {3, 64}, 1),
                                   *Tensor::make(DType::f32, transposed ? Sizes{6, 64} : Sizes{64, 6})};
  const auto a = ops::evaluate(*graph, inputs), b = ops::evaluate(**rounded, inputs);
  EXPECT_TRUE(a && b);
  double out = 0;
  for (int64_t k = 0; k < a->at(0).count(); ++k) out = std::max(out, std::abs(a->at(0).number(k) - b->at(0).number(k)));
  return out;
}

TEST(InPrecision, RoundsWhatMultipliesAMatrixInBlocks) {
  for (const auto& [text, transposed] : {std::pair("graph(x: f32[n,64], w: f32[64,6]) { y = MatMul(x, w) return y }", false),
                                         std::pair("graph(x: f32[n,64], w: f32[64,6]) { y = Gemm(x, w) return y }", false),
                                         std::pair("graph(x: f32[n,64], w: f32[6,64]) { y = Gemm(x, w, transB=1) return y }", true)}) {
    EXPECT_EQ(change_of(text, transposed, codegen::Activations::f32), 0) << text;
    for (const auto activations : {codegen::Activations::bf16, codegen::Activations::i8}) {
      EXPECT_GT(change_of(text, transposed, activations), 1e-5) << text;
      EXPECT_LT(change_of(text, transposed, activations), 0.05) << text;
    }
  }
}

}  // namespace
}  // namespace tenon::cli
