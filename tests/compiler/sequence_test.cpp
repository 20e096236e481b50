// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals, compiled: through opaque steps, branches and loops, and at the door.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ir/literal.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

Tensor floats(Sizes shape, std::vector<float> data) { return Tensor::of_f32(std::move(shape), data); }
Tensor number(int64_t value) { return Tensor::of_i64({}, {&value, 1}); }
Tensor sequence(std::vector<Tensor> elements) { return Tensor::of_elements(DType::sequence, std::move(elements)); }
Tensor optional(std::vector<Tensor> elements) { return Tensor::of_elements(DType::optional, std::move(elements)); }
const Tensor a = floats({2}, {1, 2}), b = floats({3}, {3, 4, 5});

/// Results of one run; those of a later one, on other inputs, do not change them.
void check(std::string_view text, const std::vector<Tensor>& inputs, const std::vector<Tensor>& others) {
  for (int opt : {0, 3}) {
    const auto graph = ir::parse(text, ops::table());
    ASSERT_TRUE(graph) << graph.error().text();
    const auto want = ops::evaluate(**graph, inputs);
    ASSERT_TRUE(want) << want.error().text();
    const auto engine = testing::engine_of(text, opt);
    ASSERT_TRUE(engine) << engine.error().text();
    const auto context = runtime::Context::create(*engine);
    ASSERT_TRUE(context) << context.error().text();
    ASSERT_TRUE((*context)->run(others, tests::run_options()));
    const auto got = (*context)->run(inputs, tests::run_options());
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "opt " << opt << " result " << k;
  }
}

Result<std::vector<Tensor>> results(std::string_view text, const std::vector<Tensor>& inputs) {
  return testing::compiled_results(TRY(ir::parse(text, ops::table())), inputs, 3);
}

TEST(SequencesCompiled, PassOpaqueStepsAndKernels) {
  // y lies in the arena, and what the sequence keeps of it must not be overwritten by z.
  check(R"(graph(x: f32[n], i: i64[]) {
    y = Exp(x) s = SequenceConstruct(x, y) z = Mul(y, y) w = Sin(z) t = SequenceInsert(s, w) e = SequenceAt(t, i) r = Neg(e)
    return t, r, s })",
        {a, number(1)}, {b, number(0)});
}

TEST(SequencesCompiled, ComeInAndGoOutAsTheyAre) {
  check("graph(s: seq(f32[n]), o: optional(f32[n])) { t = Identity(s) return s as first, t as second, s as third, o as last }",
        {sequence({a, b}), optional({})}, {sequence({}), optional({a})});
}

TEST(SequencesCompiled, LoopsAndBranchesThatCarryThemArePrograms) {
  constexpr std::string_view kText = R"(graph(n: i64[], x: f32[2], go: bool[]) {
    s = SequenceEmpty()
    r = Loop(n, _, s) body={ graph(i: i64[], c: bool[], s: seq(f32[k]), x: f32[2]) {
      f = Cast(i, to=1) y = Add(x, f) z = Exp(y) t = SequenceInsert(s, z) return c, t } } captures=[x]
    q = If(go) then_branch={ graph(r: seq(f32[k])) { u = SequenceErase(r) return u } } captures=[r]
      else_branch={ graph(r: seq(f32[k])) { return r } } captures=[r]
    return r, q })";
  const Tensor yes = Tensor::scalar(DType::boolean, 1), no = Tensor::scalar(DType::boolean, 0);
  check(kText, {number(4), a, yes}, {number(2), a, no});
  check(kText, {number(3), a, no}, {number(4), a, yes});
  const auto engine = testing::engine_of(kText, 3);
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ((*engine)->programs().size(), 1u + 3u);
}

TEST(SequencesCompiled, SizesOfAnUnreadElementAreKnown) {
  check("graph(s: seq(f32[n,m]), i: i64[]) { e = SequenceAt(s, i) r = Shape(e) return r }",
        {sequence({floats({1, 2}, {1, 2}), floats({2, 1}, {1, 2})}), number(1)}, {sequence({floats({3, 0}, {})}), number(0)});
  check("graph(x: f32[n]) { i = NonZero(x) s = Shape(i) z = ConstantOfShape(s) return z }", {floats({3}, {1, 0, 2})},
        {floats({2}, {0, 0})});
}

TEST(SequencesCompiled, AnElementOfUnknownRankIsATensorLikeAnyOther) {
  check("graph(s: seq(f32[*]), i: i64[]) { e = SequenceAt(s, i) r = Relu(e) return r, e }",
        {sequence({a, floats({1, 1}, {-1})}), number(1)}, {sequence({b}), number(0)});
}

TEST(SequencesCompiled, AreCheckedAgainstDeclaredTypes) {
  constexpr std::string_view kText = "graph(s: seq(f32[2])) { r = SequenceLength(s) return r }";
  for (const auto& [value, words] : std::vector<std::pair<Tensor, std::string>>{{a, "f32[2]"},
                                                                                {sequence({a, b}), "seq(f32[2],f32[3])"},
                                                                                {sequence({number(1)}), "seq(i64[])"},
                                                                                {sequence({sequence({a})}), "seq(seq(f32[2]))"},
                                                                                {optional({}), "optional()"}}) {
    const auto got = results(kText, {value});
    ASSERT_FALSE(got) << words;
    EXPECT_EQ(got.error().code(), Code::bad_input);
    EXPECT_NE(got.error().text().find("input 's'"), std::string::npos) << got.error().text();
    EXPECT_NE(got.error().text().find("seq(f32[2])"), std::string::npos) << got.error().text();
    EXPECT_NE(got.error().text().find(words), std::string::npos) << got.error().text();
  }
  EXPECT_TRUE(results(kText, {sequence({})}));
  EXPECT_FALSE(results("graph(x: f32[2]) { r = Relu(x) return r }", {sequence({a})}));
}

TEST(SequencesCompiled, ErrorsOfARunNameTheNode) {
  const auto outside = results("graph(s: seq(f32[n]), i: i64[]) { r = SequenceAt(s, i) return r }", {sequence({a}), number(3)});
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code(), Code::index_out_of_range) << outside.error().text();
  const auto none = results("graph(o: optional(f32[n])) { r = OptionalGetElement(o) return r }", {optional({})});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::bad_input) << none.error().text();
  EXPECT_NE(none.error().text().find("OptionalGetElement"), std::string::npos) << none.error().text();
}

TEST(SequencesCompiled, ResultsOfTheContextOutliveTheInputs) {
  constexpr std::string_view kText = "graph(x: f32[2]) { s = SequenceConstruct(x, x) return s }";
  const auto engine = testing::engine_of(kText, 3);
  ASSERT_TRUE(engine) << engine.error().text();
  const auto context = runtime::Context::create(*engine);
  std::vector<float> memory = {1, 2};
  const auto got = (*context)->run(std::vector{Tensor::view(DType::f32, {2}, memory.data(), nullptr)}, tests::run_options());
  ASSERT_TRUE(got) << got.error().text();
  memory = {8, 9};
  EXPECT_TRUE(ir::same((*got)[0], sequence({a, a})));
}

}  // namespace
}  // namespace tenon::compiler
