// SPDX-License-Identifier: Apache-2.0
// The samples of every elementwise op over zeros of both signs, NaN and infinities: generated code gives the reference's special values.
#include <gtest/gtest.h>

#include <algorithm>

#include "../../special_values.h"
#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

bool is_elementwise(const ops::OpDef& def, const ops::SampleCase& made) {
  const auto form = def.loop_form(made.graph->view(made.node));
  return form && std::ranges::all_of(form->loops, [](const ops::Loop& loop) { return class_of(loop) == ops::LoopClass::map; });
}

/// Constants of the sample stay constants at `opt` 0, where no rule runs, and at 3, where rules see them.
void check(const ops::OpDef& def, const ops::Sample& sample, int opt) {
  auto made = ops::build_sample(def, sample, 1);
  ASSERT_TRUE(made) << made.error().text();
  if (!is_elementwise(def, *made)) return;
  // Generated code takes denormal numbers for zeros.
  tests::fill_with_special_values(made->inputs, tests::Denormals::left_out);
  const auto want = ops::evaluate(*made->graph, made->inputs);
  if (!want) return;  // these operands are illegal
  const auto got = testing::compiled_results(made->graph->clone(), made->inputs, opt);
  ASSERT_TRUE(got) << got.error().text();
  for (size_t k = 0; k < want->size(); ++k)
    EXPECT_EQ(tests::special_difference((*want)[k], (*got)[k]), "") << "opt " << opt << ", result " << k << " of\n"
                                                                    << ir::print(*made->graph);
}

class SpecialCompiledSamples : public ::testing::TestWithParam<const ops::OpDef*> {};

TEST_P(SpecialCompiledSamples, GiveTheReferencesZerosNaNsAndInfinities) {
  const ops::OpDef& def = *GetParam();
  if (!def.loop_form || !def.deterministic) return;
  // (1 + tanh(-inf)) * -inf is NaN where tanh gives -1, and -inf where it gives the number beside it, as generated code may.
  if (def.name == "Gelu") return;
  for (std::string_view text : def.samples) {
    SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
    auto sample = ops::parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    const ops::Sample wide = tests::widened_for_pairs(def, *sample);
    for (int opt : {0, 3}) check(def, wide, opt);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, SpecialCompiledSamples, ::testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const ::testing::TestParamInfo<const ops::OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

/// Results that follow from constants, or from sizes, have shape data; a Dim cannot hold -0.
TEST(SpecialConstants, KeepTheSignOfAZero) {
  constexpr std::string_view kText = R"(graph main(x: f32[n]) {
    const p: f32[1] = [0]
    const q: f32[1] = [-0.0]
    const m: f32[] = -1
    const row: f32[1,2] = [0, -0.0]
    joined = Concat(p, q, axis=0)
    same = Identity(q)
    turned = Transpose(row, perm=[1,0])
    negated = Neg(p)
    product = Mul(p, m)
    quotient = Div(p, m)
    sizes = Shape(x)
    size = Cast(sizes, to=1)
    opposite = Neg(size)
    return joined, same, turned, negated, product, quotient, opposite
  })";
  const auto graph = ir::parse(kText, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const std::vector<Tensor> inputs{*Tensor::make(DType::f32, {0})};
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (int opt : {0, 3}) {
    const auto got = testing::compiled_results((*graph)->clone(), inputs, opt);
    ASSERT_TRUE(got) << got.error().text();
    for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(tests::special_difference((*want)[k], (*got)[k]), "") << "opt " << opt << ", " << k;
  }
}

}  // namespace
}  // namespace tenon::compiler
