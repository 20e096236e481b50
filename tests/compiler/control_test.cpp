// SPDX-License-Identifier: Apache-2.0
// Branches and loops, compiled, against the reference evaluator.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

void expect_no_reference(const runtime::ProgramTable& programs) {
  for (const runtime::NamedProgram& p : programs.programs) EXPECT_TRUE(p.program.blobs.empty()) << p.program.blobs[0].bytes;
}

/// Both levels give what the reference gives, and nothing runs by reference.
void check(std::string_view text, const std::vector<Tensor>& inputs) {
  auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (int opt : {0, 3}) {
    auto engine = testing::engine_of(text, opt);
    ASSERT_TRUE(engine) << engine.error().text();
    if (!tests::weather().shared) expect_no_reference((*engine)->programs());
    const auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, opt);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "opt " << opt << " result " << k;
  }
}

Tensor random(DType dtype, Sizes shape, uint64_t seed) { return *ops::random_tensor(dtype, std::move(shape), seed); }
Tensor number(int64_t value) { return Tensor::of_i64({}, {&value, 1}); }

TEST(Control, LoopWithCarriedValuesRowsAndCaptures) {
  constexpr std::string_view kText = R"(graph main(n: i64[], x: f32[batch,8], w: f32[8,8]) {
    last, rows = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[batch,8], m: f32[8,8]) {
      t = MatMul(v, m) h = Tanh(t) f = Cast(i, to=1) row = Add(h, f) return c, h, row } } captures=[w]
    s = ReduceSum(rows) return last, rows, s })";
  for (int64_t n : {1, 7}) check(kText, {number(n), random(DType::f32, {3, 8}, 1), random(DType::f32, {8, 8}, 2)});
  // Without a turn only the types tell what a row would have been: the compiler knows the batch, the reference does not.
  const std::vector<Tensor> none = {number(0), random(DType::f32, {3, 8}, 1), random(DType::f32, {8, 8}, 2)};
  const auto got = testing::compiled_results(*ir::parse(kText, ops::table()), none, 3);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[1].shape(), Sizes({0, 3, 8}));
}

TEST(Control, LoopWhoseCarriedValueGrowsUntilItsConditionEnds) {
  check(R"(graph main(x: f32[1], limit: f32[]) {
    y, all = Loop(_, _, x, x) body={ graph(i: i64[], c: bool[], v: f32[1], acc: f32[k], end: f32[]) {
      const one: f32[1] = [1]
      v2 = Add(v, one) acc2 = Concat(acc, v2, axis=0) s = ReduceSum(acc2, keepdims=0) go = Less(s, end) return go, v2, acc2 } }
      captures=[limit]
    e = Exp(y) q = Mul(all, all) return e, q })",
        {Tensor::of_f32({1}, std::vector<float>{0.5F}), Tensor::of_f32({}, std::vector<float>{40})});
}

TEST(Control, ABodyThatRunsByReferenceKeepsItsLargeConstants) {
  // The branches differ in rank, so the node has no program.
  constexpr std::string_view kText = R"(graph main(go: bool[], x: f32[100]) {
    y = If(go) then_branch={ graph(t: f32[100]) { const k: f32[100] = @0 a = Add(t, k) return a } } captures=[x]
      else_branch={ graph(t: f32[100]) { s = ReduceSum(t, keepdims=0) return s } } captures=[x]
    return y })";
  const Tensor k = random(DType::f32, {100}, 5), x = random(DType::f32, {100}, 6);
  const ir::TextConstants constants{{ir::constant_of(k)}};
  for (int opt : {0, 3}) {
    const auto graph = ir::parse(kText, ops::table(), &constants);
    ASSERT_TRUE(graph) << graph.error().text();
    const std::vector<Tensor> inputs = {Tensor::scalar(DType::boolean, 1), x};
    const auto want = ops::evaluate(**graph, inputs);
    const auto got = testing::compiled_results((*graph)->clone(), inputs, opt);
    ASSERT_TRUE(want && got) << (got ? want : Result<std::vector<Tensor>>(std::unexpected(got.error()))).error().text();
    EXPECT_EQ(testing::difference((*want)[0], (*got)[0]), "");
  }
}

TEST(Control, ATurnReadsWhatTheLastOneMadeWhileItWrites) {
  constexpr std::string_view kText = R"(graph main(n: i64[], x: f32[5,5]) {
    last = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[5,5]) { t = Transpose(v, perm=[1,0]) s = Exp(t) u = Sin(s) return c, u } }
    return last })";
  for (int64_t n : {1, 4, 5}) check(kText, {number(n), random(DType::f32, {5, 5}, 9)});
}

/// A step of an LSTM: one kernel, whose state is a row of the result too, and a value that is only handed on.
TEST(Control, ARecurrentStepCopiesNothing) {
  constexpr std::string_view kText =
      R"(graph main(n: i64[], h0: f32[batch,16], c0: f32[batch,16], x: f32[steps,batch,64], k: f32[batch,16]) {
    h1, c1, k1, rows = Loop(n, _, h0, c0, k) body={ graph(step: i64[], go: bool[], h: f32[batch,16], c: f32[batch,16], k: f32[batch,16],
                                                      x: f32[steps,batch,64]) {
        const w: f32[16,64] = @0
        r = Gather(x, step, axis=0) p = MatMul(h, w) s = Add(r, p) i, o, f, g = Split(s, axis=1, num_outputs=4)
        a = Sigmoid(i) b = Sigmoid(f) t = Tanh(g) u = Mul(b, c) v = Mul(a, t) e = Add(u, v) next = Add(e, k)
        q = Sigmoid(o) m = Tanh(next) shown = Mul(q, m) row = Identity(shown) return go, shown, next, k, row } } captures=[x]
    return h1, c1, k1, rows, k })";
  const ir::TextConstants constants{{ir::constant_of(random(DType::f32, {16, 64}, 7))}};
  const auto graph = ir::parse(kText, ops::table(), &constants);
  ASSERT_TRUE(graph) << graph.error().text();
  if (tests::weather().fuse && !tests::weather().shared && !tests::weather().symbolic) {
    const auto engine = testing::engine_of((*graph)->clone(), 3);
    ASSERT_TRUE(engine) << engine.error().text();
    EXPECT_EQ((*engine)->programs()[1].steps.size(), 1u);
  }
  for (const int64_t batch : {1, 3})
    for (const int64_t turns : {5, 1}) {
      const std::vector<Tensor> inputs = {number(turns), random(DType::f32, {batch, 16}, 1), random(DType::f32, {batch, 16}, 2),
                                          random(DType::f32, {5, batch, 64}, 3), random(DType::f32, {batch, 16}, 4)};
      const auto want = ops::evaluate(**graph, inputs);
      ASSERT_TRUE(want) << want.error().text();
      for (const int opt : {0, 3}) {
        const auto got = testing::compiled_results((*graph)->clone(), inputs, opt);
        ASSERT_TRUE(got) << got.error().text();
        for (size_t k = 0; k < want->size(); ++k)
          EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "opt " << opt << " result " << k;
      }
    }
}

TEST(Control, CarriedValuesChangePlacesAndAreRowsToo) {
  constexpr std::string_view kText = R"(graph main(n: i64[], x: f32[k,4], y: f32[k,4]) {
    a, b, c, rows, more = Loop(n, _, x, y, x) body={ graph(i: i64[], go: bool[], a: f32[k,4], b: f32[k,4], c: f32[k,4]) {
      s = Add(a, b) d = Tanh(s) e = Identity(d) f = Neg(d) return go, b, d, c, e, f } }
    return a, b, c, rows, more })";
  for (int64_t n : {1, 2, 5}) check(kText, {number(n), random(DType::f32, {3, 4}, 1), random(DType::f32, {3, 4}, 2)});
}

/// A loop-carried value that moves to another position is copied before its memory is reused, also where only a row of it is read.
TEST(Control, AValueThatMovesOnIsCopied) {
  constexpr std::string_view kText = R"(graph main(n: i64[], x: f32[4,4], y: f32[4,4]) {
    a, b, rows, numbers = Loop(n, _, x, y) body={ graph(i: i64[], go: bool[], a: f32[4,4], b: f32[4,4]) {
      const one: f32[1] = [1]
      t = Transpose(a, perm=[1, 0]) s = Add(t, b) d = Tanh(s) r = Identity(b) o = Identity(one) return go, b, d, r, o } }
    return a, b, rows, numbers })";
  for (int64_t n : {1, 2, 3, 6}) check(kText, {number(n), random(DType::f32, {4, 4}, 1), random(DType::f32, {4, 4}, 2)});
}

TEST(Control, BranchesWithALoopInside) {
  constexpr std::string_view kText = R"(graph main(go: bool[], x: f32[batch,seq]) {
    a, b = If(go) then_branch={ graph(t: f32[batch,seq]) {
        const three: i64[] = 3
        last, rows = Loop(three, _, t) body={ graph(i: i64[], c: bool[], v: f32[batch,seq], u: f32[batch,seq]) {
          n = Add(v, u) f = Cast(i, to=1) r = Mul(n, f) return c, n, r } } captures=[t]
        const first: i64[1] = [0]
        sum = ReduceSum(rows, first, keepdims=0) return last, sum } } captures=[x]
      else_branch={ graph(e: f32[batch,seq]) { m = Neg(e) k = Identity(e) return m, k } } captures=[x]
    y = Softmax(a) return y, b })";
  for (bool go : {true, false}) check(kText, {Tensor::scalar(DType::boolean, go), random(DType::f32, {2, 5}, 3)});
}

TEST(Control, BranchesThatDifferInShape) {
  constexpr std::string_view kText = R"(graph main(go: bool[], x: f32[n]) {
    y = If(go) then_branch={ graph(t: f32[n]) { a = Exp(t) return a } } captures=[x]
      else_branch={ graph(e: f32[n]) { b = Concat(e, e, axis=0) return b } } captures=[x]
    z = Neg(y) return z })";
  for (bool go : {true, false, true}) check(kText, {Tensor::scalar(DType::boolean, go), random(DType::f32, {4}, 4)});
}

TEST(Control, ScanAlongAnyAxisInBothDirections) {
  constexpr std::string_view kText = R"(graph main(h0: f32[batch,4], xs: f32[batch,seq,6], w: f32[6,4]) {
    last, rows = Scan(h0, xs, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], scan_input_directions=[1],
      scan_output_directions=[1]) body={ graph(h: f32[batch,4], x: f32[batch,6], m: f32[6,4]) { p = MatMul(x, m) s = Add(h, p)
      t = Tanh(s) o = Identity(t) return t, o } } captures=[w]
    return last, rows })";
  for (int64_t seq : {1, 7})
    check(kText, {random(DType::f32, {2, 4}, 5), random(DType::f32, {2, seq, 6}, 6), random(DType::f32, {6, 4}, 7)});
}

TEST(Control, ALoopWhoseRankGrowsRunsByReference) {
  auto engine = testing::engine_of(R"(graph main(n: i64[], x: f32[2]) {
    y = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32) { const k: i64[1] = [0] w = Unsqueeze(v, k) return c, w } }
    z = Identity(x) return z, y })",
                                   3);
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ((*engine)->program().blobs.size(), 1u);
}

TEST(Control, RefusesATripCountThatIsNotOneNumber) {
  auto engine = testing::engine_of(R"(graph main(n: i64[k], x: f32[2]) {
    y = Loop(n, _, x) body={ graph(i: i64[], c: bool[], v: f32[2]) { w = Add(v, v) return c, w } } return y })",
                                   3);
  ASSERT_TRUE(engine) << engine.error().text();
  auto context = runtime::Context::create(*engine);
  const auto got = (*context)->run(std::vector<Tensor>{Tensor::of_i64({2}, std::vector<int64_t>{1, 2}), random(DType::f32, {2}, 8)});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::bad_input);
  EXPECT_EQ(got.error()->place, "node 'y' (Loop)");
}

}  // namespace
}  // namespace tenon::compiler
