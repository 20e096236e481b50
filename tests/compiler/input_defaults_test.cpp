// SPDX-License-Identifier: Apache-2.0
// Inputs with defaults: a run leaves them out or overrides them.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

Tensor floats(Sizes shape, std::vector<double> values) {
  Tensor t = *Tensor::make(DType::f32, std::move(shape));
  for (size_t k = 0; k < values.size(); ++k) t.set_number(static_cast<int64_t>(k), values[k]);
  return t;
}

Tensor integers(std::vector<int64_t> values) {
  Tensor t = *Tensor::make(DType::i64, {static_cast<int64_t>(values.size())});
  for (size_t k = 0; k < values.size(); ++k) t.set_integer(static_cast<int64_t>(k), values[k]);
  return t;
}

/// A weight, a scalar and a shape have defaults; a body captures the weight.
constexpr std::string_view kModel = R"(graph main(x: f32[2,3], up: bool[], w: f32[3] = [1, 2, 3], one: f32[] = 1, s: i64[2] = [3, 2]) {
  w1 = Add(w, one)
  y = Mul(x, w1)
  z = Reshape(y, s)
  b = If(up) then_branch={ graph(c: f32[3]) { p = Add(c, c) return p } } captures=[w]
             else_branch={ graph(c: f32[3]) { q = Neg(c) return q } } captures=[w]
  return y, z, b
})";

std::vector<Tensor> required() { return {floats({2, 3}, {1, 2, 3, 4, 5, 6}), *ops::random_tensor(DType::boolean, {}, 1, 0, 1)}; }

/// What the caller gives, each beside the results that it must have.
std::vector<std::vector<Tensor>> calls() {
  const Tensor w = floats({3}, {5, -5, 0}), s = integers({6, 1});
  std::vector<std::vector<Tensor>> out(5, required());
  out[1].push_back(w);
  out[2].insert(out[2].end(), {Tensor(), Tensor(), s});
  out[3].insert(out[3].end(), {w, floats({}, {10}), s});
  out[4].insert(out[4].end(), {Tensor(), Tensor(), Tensor()});
  return out;
}

void expect_like_reference(runtime::Context& context) {
  const auto graph = *ir::parse(kModel, ops::table());
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<Tensor>& given : calls()) {
      const auto want = ops::evaluate(*graph, given);
      ASSERT_TRUE(want) << want.error().text();
      const auto got = testing::copied_results(context, given);
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "result " << k;
    }
  }
}

class InputDefaults : public ::testing::TestWithParam<int> {};

TEST_P(InputDefaults, AreOverriddenByARun) {
  const auto engine = testing::engine_of(kModel, GetParam());
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ((*engine)->required_inputs(), 2u);
  EXPECT_EQ((*engine)->inputs().size(), 5u);
  auto context = runtime::Context::create(*engine);
  ASSERT_TRUE(context);
  expect_like_reference(**context);
}

TEST_P(InputDefaults, AreKeptByASavedEngine) {
  for (const bool portable : {false, true}) {
    CompileOptions options;
    options.opt = GetParam();
    options.portable = portable;
    const auto compiled = compile(*ir::parse(kModel, ops::table()), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto path = std::filesystem::temp_directory_path() / ("defaults" + std::to_string(getpid()) + ".tenon");
    ASSERT_TRUE(save(*compiled, options, path));
    const auto engine = load(path);
    std::filesystem::remove(path);
    ASSERT_TRUE(engine) << engine.error().text();
    auto context = runtime::Context::create(*engine);
    ASSERT_TRUE(context);
    expect_like_reference(**context);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, InputDefaults, ::testing::Values(0, 3));

TEST(InputDefaults, AreConstantsInTheUsualProgram) {
  const auto engine = testing::engine_of("graph main(x: f32[4], w: f32[4] = [1, 2, 3, 4]) { a = Exp(w) y = Mul(x, a) return y }", 3);
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ((*engine)->program().steps.size(), 1u);
  EXPECT_EQ((*engine)->program().inputs.size(), 1u);
  EXPECT_TRUE((*engine)->entries()[0].overridable_program);
}

TEST(InputDefaults, ShareOtherWeightsBetweenPrograms) {
  const auto weights_of = [](std::string_view text) { return (*testing::engine_of(text, 3))->programs().weight_bytes; };
  const uint64_t alone = weights_of("graph main(x: f32[8,256]) { const m: f32[256,256] = splat(0.5) y = MatMul(x, m) return y }");
  const uint64_t with_default =
      weights_of("graph main(x: f32[8,256], w: f32[] = 2) { const m: f32[256,256] = splat(0.5) p = MatMul(x, m) y = Add(p, w) return y }");
  EXPECT_LT(with_default, alone + 4096);
}

TEST(InputDefaults, AreFrozenOnRequest) {
  CompileOptions options;
  options.freeze_defaults = true;
  auto compiled = compile(*ir::parse(kModel, ops::table()), options);
  ASSERT_TRUE(compiled) << compiled.error().text();
  const auto engine = load_compiled(*std::move(compiled));
  ASSERT_TRUE(engine);
  EXPECT_TRUE(!(*engine)->entries()[0].overridable_program);
  EXPECT_EQ((*engine)->inputs().size(), 2u);
  auto context = *runtime::Context::create(*engine);
  EXPECT_TRUE(context->run(required()));
  auto four = required();
  four.push_back(floats({3}, {1, 1, 1}));
  const auto refused = context->run(four);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_input);
}

TEST(InputDefaults, RefuseAnOverrideOfAnotherShape) {
  const auto engine = testing::engine_of(kModel, 3);
  ASSERT_TRUE(engine);
  auto context = *runtime::Context::create(*engine);
  auto given = required();
  given.push_back(floats({4}, {1, 1, 1, 1}));
  const auto refused = context->run(given);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_input);
  EXPECT_NE(refused.error().text().find("'w'"), std::string::npos) << refused.error().text();
}

TEST(InputDefaults, GoBeyondTheBoundsOfTheUsualProgram) {
  const std::string_view bounded = "graph main(x: f32[n], w: f32[] = 2) { y = Mul(x, w) return y }";
  auto graph = *ir::parse("symbol n in 1 to 4 " + std::string(bounded), ops::table());
  auto compiled = compile({std::move(graph), *ir::parse(bounded, ops::table())}, CompileOptions());
  ASSERT_TRUE(compiled) << compiled.error().text();
  auto context = *runtime::Context::create(*load_compiled(*std::move(compiled)));
  for (int64_t n : {3, 9}) {
    const Tensor x = *ops::random_tensor(DType::f32, {n}, 1);
    for (const double w : {2.0, 3.0}) {
      std::vector<Tensor> given{x};
      if (w != 2) given.push_back(floats({}, {w}));
      const auto got = testing::copied_results(*context, given);
      ASSERT_TRUE(got) << got.error().text();
      for (int64_t k = 0; k < n; ++k) EXPECT_FLOAT_EQ(static_cast<float>((*got)[0].number(k)), static_cast<float>(x.number(k) * w));
    }
  }
}

TEST(InputDefaults, FollowRequiredInputsInTheText) {
  const auto refused = ir::parse("graph main(w: f32[] = 2, x: f32[3]) { y = Mul(x, w) return y }", ops::table());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_graph);
  const std::string open = "graph main(x: f32[3], w: f32[n] = f32[3] = [1, 2, 3]) {\n  y: f32[3] = Mul(x, w)\n  return y\n}\n";
  const auto graph = ir::parse(open, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(ir::print(**ir::parse(ir::print(**graph), ops::table())), ir::print(**graph));
}

}  // namespace
}  // namespace tenon::compiler
