// SPDX-License-Identifier: Apache-2.0
// Every op's samples over zeros of both signs, NaN, infinities and denormals: the reference and the loop form give the same special values.
#include <gtest/gtest.h>

#include <algorithm>

#include "../special_values.h"
#include "ir/text.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "ops/reference/interpret.h"

namespace tenon::ops {
namespace {

/// Each element of a result depends on one element of each operand: no sum whose order decides the sign of a zero.
bool is_elementwise(const LoopForm& form) {
  return std::ranges::all_of(form.loops, [](const Loop& loop) { return class_of(loop) == LoopClass::map; });
}

/// constants: operands with given values stay constants, so that loop forms that read them are tested too.
void check_sample(const OpDef& def, const Sample& sample, bool constants) {
  auto made = build_sample(def, sample, 1, false, constants);
  if (!made && !constants) return;  // needs the value while compiling
  ASSERT_TRUE(made) << made.error().text();
  for (ir::ValueId v : made->graph->node(made->node).outputs)
    if (!made->graph->value(v).type.is_static()) return;  // sizes that depend on data
  tests::fill_with_special_values(made->inputs, tests::Denormals::drawn);
  const auto form = def.loop_form(made->graph->view(made->node));
  if (!form || !is_elementwise(*form)) return;
  const auto want = evaluate(*made->graph, made->inputs);
  if (!want) return;  // these operands are illegal
  std::vector<const Tensor*> operands;
  size_t input = 0;
  for (size_t i = 0; i < made->operands.size(); ++i) {
    const bool is_input = !made->operands[i].empty_handle() && !(sample.operands[i].value && constants);
    operands.push_back(is_input ? &made->inputs[input++] : made->operands[i].empty_handle() ? nullptr : &made->operands[i]);
  }
  const auto got = interpret(*form, operands, [](const DimNode&) { return Dim(1); });
  ASSERT_TRUE(got) << got.error().text();
  for (size_t k = 0; k < want->size(); ++k)
    EXPECT_EQ(tests::special_difference((*want)[k], (*got)[k]), "") << "result " << k << " of\n" << ir::print(*made->graph);
}

class SpecialSamples : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(SpecialSamples, FormGivesTheReferencesZerosNaNsAndInfinities) {
  const OpDef& def = *GetParam();
  if (!def.loop_form || !def.deterministic) return;
  for (std::string_view text : def.samples) {
    SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
    auto sample = parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    const Sample wide = tests::widened_for_pairs(def, *sample);
    for (bool constants : {true, false}) check_sample(def, wide, constants);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, SpecialSamples, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const ::testing::TestParamInfo<const OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

}  // namespace
}  // namespace tenon::ops
