// SPDX-License-Identifier: Apache-2.0
// Precision bf16: large products multiply bf16, which other products read too where they read the same array; all else stays f32.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/judge.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// "const NAME: f32[SHAPE] = [...]", numbers that bf16 does not hold.
std::string constant(std::string_view name, std::string_view shape, int count, double scale = 0.1) {
  std::string out = fmt::format("const {}: f32[{}] = [", name, shape);
  for (int i = 0; i < count; ++i) out += fmt::format("{}{:.7g}", i ? ", " : "", scale * std::sin(1.7 * i + count));
  return out + "]\n";
}

PlannedGraph planned(const ir::Graph& graph, Precision precision) {
  auto out = planned_graph(graph, {.precision = precision, .verify = true}, **target_named("x86_avx512_bf16"));
  EXPECT_TRUE(out) << out.error().text();
  return std::move(*out);
}

int pairs_in(const PlannedGraph& planned) {
  int out = 0;
  for (const auto& kernels : planned.kernels_by_group)
    for (const Kernel& k : kernels) out += text_of(k.tile).find("products=2") != std::string::npos;
  return out;
}

int roundings_in(const PlannedGraph& planned) {
  int out = 0;
  for (const Array& a : planned.plan.arrays) out += a.dtype == DType::bf16 && !a.constant;
  return out;
}

/// Within the bounds of bf16 of the reference, and not what f32 gives. Of `pairs` kernels that multiply bf16, which read `rounded` arrays.
PlannedGraph runs(const std::string& text, int pairs, int rounded) {
  static std::vector<std::unique_ptr<ir::Graph>> kept;
  auto parsed = ir::parse(text, ops::table());
  EXPECT_TRUE(parsed) << parsed.error().text();
  kept.push_back(std::move(*parsed));
  const ir::Graph& graph = *kept.back();
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs()) {
    Sizes sizes;
    for (Dim d : *graph.value(v).type.shape) sizes.push_back(d.number().value_or(5));
    inputs.push_back(*ops::random_tensor(DType::f32, sizes, inputs.size() + 1));
  }
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  const auto want = ops::evaluate(graph, inputs, wide);
  PlannedGraph shortened = planned(graph, Precision::bf16);
  const PlannedGraph plain = planned(graph, Precision::f32);
  const auto got = run(shortened, inputs), before = run(plain, inputs);
  EXPECT_TRUE(got && before && want);
  EXPECT_EQ(pairs_in(shortened), pairs) << text_of(shortened.plan);
  EXPECT_EQ(roundings_in(shortened), rounded) << text_of(shortened.plan);
  EXPECT_EQ(pairs_in(plain) + roundings_in(plain), 0);
  const Tolerance bound = tolerance_of(DType::bf16);
  EXPECT_LE(distance((*got)[0], (*want)[0], {bound.relative, 8 * bound.absolute}).bound_ratio, 1) << text_of(shortened.plan);
  EXPECT_LE(distance((*before)[0], (*want)[0]).bound_ratio, 1);
  const auto bytes = static_cast<size_t>((*got)[0].byte_size());
  EXPECT_EQ(std::memcmp((*got)[0].data(), (*before)[0].data(), bytes) == 0, pairs == 0);
  return shortened;
}

TEST(ShortenProducts, WritesWhatTheNextProductReadsAsBf16) {
  const PlannedGraph p =
      runs("graph main(x: f32[n,64]) {" + constant("w", "64,96", 64 * 96) + constant("b", "96", 96) + constant("v", "96,40", 96 * 40) +
               "h = MatMul(x, w) s = Add(h, b) g = Gelu(s) y = MatMul(g, v) return y }",
           2, 2);
  const std::string text = text_of(p.plan);
  ASSERT_NE(text.find("then for"), std::string::npos) << text;
  const size_t declared = text.find(": bf16[n, 96]");
  ASSERT_NE(declared, std::string::npos) << text;
  const std::string name = text.substr(text.rfind(' ', declared) + 1, declared - text.rfind(' ', declared) - 1);
  EXPECT_NE(text.find(name + "[i0, i1] = cast(", text.find("then for")), std::string::npos) << "Gelu writes bf16 alone\n" << text;
}

/// Query, key and value read one rounded array; the sum beside them reads the numbers themselves.
TEST(ShortenProducts, RoundsOnceForAllProductsOfAnArray) {
  runs("graph main(x: f32[n,64]) {" + constant("q", "64,64", 4096) + constant("k", "64,64", 4096, 0.2) + constant("v", "64,64", 4096, 0.3) +
           "a = MatMul(x, q) b = MatMul(x, k) c = MatMul(x, v) ab = Mul(a, b) abc = Mul(ab, c) y = Add(abc, x) return y }",
       3, 1);
}

/// The image is rounded into the array that has its padding around it.
TEST(ShortenProducts, RoundsConvolutions) {
  runs("graph main(x: f32[n,16,9,8]) {" + constant("w", "32,16,3,3", 32 * 16 * 9) + constant("v", "32,32,1,1", 1024) +
           "h = Conv(x, w, pads=[1, 1, 1, 1]) r = Relu(h) y = Conv(r, v) return y }",
       2, 2);
}

TEST(ShortenProducts, RoundsALayerOfATransformer) {
  std::string text = "graph main(x: f32[n,64], m: f32[n]) {" + constant("g", "64", 64, 1.0) + constant("z", "64", 64);
  for (const char* w : {"wq", "wk", "wv", "wo"}) text += constant(w, "64,64", 4096);
  text += constant("wi", "64,128", 64 * 128) + constant("wd", "128,64", 64 * 128);
  text += R"(const heads: i64[4] = [1, -1, 2, 32]
    const joined: i64[2] = [-1, 64]
    q0 = MatMul(x, wq) q1 = Reshape(q0, heads) q = Transpose(q1, perm=[0, 2, 1, 3])
    k0 = MatMul(x, wk) k1 = Reshape(k0, heads) k = Transpose(k1, perm=[0, 2, 1, 3])
    v0 = MatMul(x, wv) v1 = Reshape(v0, heads) v = Transpose(v1, perm=[0, 2, 1, 3])
    a = Attention(q, k, v) t = Transpose(a, perm=[0, 2, 1, 3]) j = Reshape(t, joined)
    o = MatMul(j, wo) r = Add(o, x) l = LayerNormalization(r, g, z)
    i = MatMul(l, wi) e = Gelu(i) d = MatMul(e, wd) s = Add(d, l) y = LayerNormalization(s, g, z)
    return y
  })";
  runs(text, 6, 4);
}

/// Little work, no constant panels, and depths that no pairs fit.
TEST(ShortenProducts, LeavesWhatDoesNotPay) {
  runs("graph main(x: f32[n,64]) {" + constant("w", "64,8", 512) + "y = MatMul(x, w) return y }", 0, 0);
  runs("graph main(x: f32[n,8]) {" + constant("w", "8,64", 512) + "y = MatMul(x, w) return y }", 0, 0);
  runs("graph main(x: f32[n,65]) {" + constant("w", "65,64", 65 * 64) + "y = MatMul(x, w) return y }", 0, 0);
  runs("graph main(x: f32[n,64], w: f32[64,64]) { y = MatMul(x, w) return y }", 0, 0);
}

TEST(ShortenProducts, NeedsATargetWithBf16) {
  EXPECT_TRUE(check_precision(Precision::bf16, **target_named("x86_avx512_bf16")));
  EXPECT_TRUE(check_precision(Precision::f32, **target_named("x86_avx2")));
  const auto refused = check_precision(Precision::bf16, **target_named("x86_avx2"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::wrong_target);
  EXPECT_EQ(refused.error()->found, "AVX2");
  EXPECT_FALSE(precision_named("bf8"));
  EXPECT_EQ(*precision_named("bf16"), Precision::bf16);
}

}  // namespace
}  // namespace tenon::codegen
