// SPDX-License-Identifier: Apache-2.0
// Parameters that a step of training replaces.
#include <gtest/gtest.h>

#include <cmath>

#include "states/stepper.h"

namespace tenon::compiler {
namespace {

bool is_in_place(const runtime::Engine& engine, std::string_view state) {
  const runtime::Program& program = engine.program();
  for (const runtime::StatePort& port : program.states)
    if (engine.states()[port.state].name == state) return program.buffers[port.new_buffer].kind == runtime::BufferInfo::Kind::alias;
  return false;
}

constexpr int64_t kBytes = 512 * 512 * 4;

TEST(Update, OfAParameterHasNoSecondBuffer) {
  auto s = stepper(
      "graph(g: f32[512,512], lr: f32[], w: f32[512,512]) { d = Mul(g, lr) now = Sub(w, d) y = ReduceSum(now, keepdims=0) "
      "state w(w) = now return y, now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_TRUE(is_in_place(*s->engine, "w"));
  const Tensor lr = Tensor::of_f32({}, std::vector<float>{0.5F});
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({512, 512}, k), lr);
  EXPECT_LT(s->context->arena_bytes(), static_cast<uint64_t>(kBytes) / 8);
}

/// The gradient is a product: its tiles are subtracted where the parameter is.
TEST(Update, ByAProductHasNoSecondBuffer) {
  auto s = stepper(
      "graph(x: f32[16,512], e: f32[16,512], lr: f32[], w: f32[512,512]) { t = Transpose(x, perm=[1,0]) g = MatMul(t, e) "
      "d = Mul(g, lr) now = Sub(w, d) state w(w) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_TRUE(is_in_place(*s->engine, "w"));
  const Tensor lr = Tensor::of_f32({}, std::vector<float>{0.01F});
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({16, 512}, k), random({16, 512}, k + 9), lr);
  EXPECT_LT(s->context->arena_bytes(), static_cast<uint64_t>(kBytes) / 2);
}

/// The forward pass reads the old value, before the update: one more reader that comes first.
TEST(Update, ComesAfterTheForwardPass) {
  auto s = stepper(
      "graph(x: f32[8,64], want: f32[8,32], lr: f32[], w: f32[64,32]) { y = MatMul(x, w) e = Sub(y, want) s = Mul(e, e) "
      "loss = ReduceSum(s, keepdims=0) t = Transpose(x, perm=[1,0]) g = MatMul(t, e) d = Mul(g, lr) now = Sub(w, d) "
      "state w(w) = now return loss, now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_TRUE(is_in_place(*s->engine, "w"));
  const Tensor lr = Tensor::of_f32({}, std::vector<float>{0.001F});
  for (uint64_t k = 0; k < 5; ++k) EXPECT_STEP(*s, random({8, 64}, k), random({8, 32}, k + 9), lr);
}

/// A reader of the old value that needs the new one: both exist at the same time.
TEST(Update, WithALateReaderOfTheOldValueIsCopied) {
  auto s = stepper(
      "graph(x: f32[4,4], g: f32[4,4], w: f32[4,4]) { now = Sub(w, g) a = MatMul(now, x) y = MatMul(a, w) "
      "state w(w) = now return y, now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_FALSE(is_in_place(*s->engine, "w"));
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({4, 4}, k), random({4, 4}, k + 9));
}

/// Adam (Kingma and Ba, 2015, algorithm 1) of a linear layer with weight and bias: seven states.
TEST(Update, TenThousandStepsOfAdamAreThoseOfTheReference) {
  const auto update = [](const std::string& p) {
    return "m1" + p + " = Mul(m" + p + ", b1) m2" + p + " = Mul(g" + p + ", c1) nm" + p + " = Add(m1" + p + ", m2" + p + ") " +  //
           "v1" + p + " = Mul(v" + p + ", b2) q" + p + " = Mul(g" + p + ", g" + p + ") v2" + p + " = Mul(q" + p + ", c2) nv" + p +
           " = Add(v1" + p + ", v2" + p + ") mh" + p + " = Div(nm" + p + ", d1) vh" + p + " = Div(nv" + p + ", d2) r" + p + " = Sqrt(vh" +
           p + ") re" + p + " = Add(r" + p + ", eps) st" + p + " = Div(mh" + p + ", re" + p + ") sl" + p + " = Mul(st" + p + ", lr) n" + p +
           " = Sub(" + p + ", sl" + p + ") ";
  };
  auto s = stepper(
      "graph(x: f32[4,8], want: f32[4,3], t: f32[], w: f32[8,3], mw: f32[8,3], vw: f32[8,3], b: f32[3], mb: f32[3], vb: f32[3]) { "
      "const b1: f32[] = 0.9 const c1: f32[] = 0.1 const b2: f32[] = 0.999 const c2: f32[] = 0.001 const eps: f32[] = 1e-8 "
      "const lr: f32[] = 0.001 const one: f32[] = 1 nt = Add(t, one) p1 = Pow(b1, nt) d1 = Sub(one, p1) p2 = Pow(b2, nt) d2 = Sub(one, p2) "
      "z = MatMul(x, w) y = Add(z, b) e = Sub(y, want) sq = Mul(e, e) loss = ReduceSum(sq, keepdims=0) xt = Transpose(x, perm=[1,0]) "
      "gw = MatMul(xt, e) const zero: i64[1] = [0] gb = ReduceSum(e, zero, keepdims=0) " +
          update("w") + update("b") +
          "state t(t) = nt state w(w) = nw state mw(mw) = nmw state vw(vw) = nvw state b(b) = nb state mb(mb) = nmb state vb(vb) = nvb "
          "return loss, nt, nw, nmw, nvw, nb, nmb, nvb }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  for (const char* name : {"w", "mw", "vw", "b", "mb", "vb", "t"}) EXPECT_TRUE(is_in_place(*s->engine, name)) << name;
  std::vector<std::vector<Tensor>> data;
  for (uint64_t k = 0; k < 8; ++k) data.push_back({random({4, 8}, k), random({4, 3}, k + 100)});
  for (size_t k = 0; k < 10'000; ++k) ASSERT_EQ(s->step(data[k % data.size()]), "") << "step " << k;
  EXPECT_EQ(s->context->plans_made(), 1u);
}

}  // namespace
}  // namespace tenon::compiler
