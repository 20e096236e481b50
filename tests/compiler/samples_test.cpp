// SPDX-License-Identifier: Apache-2.0
// Every op's samples through the whole compiler, against the op's reference: fused and not, with sizes known and symbolic.
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/evaluate.h"
#include "ops/sample.h"

namespace tenon::compiler {
namespace {

struct Way {
  int opt;
  bool symbolic, constants;
};
constexpr Way kWays[] = {{0, false, true}, {3, true, true}, {3, false, false}};

void check(const ops::OpDef& def, const ops::Sample& sample, const Way& way) {
  SCOPED_TRACE("opt " + std::to_string(way.opt) + (way.symbolic ? ", symbolic sizes" : "") + (way.constants ? "" : ", no constants"));
  auto made = ops::build_sample(def, sample, 1, way.symbolic, way.constants);
  if (!made) return;  // some ops need a size or a value to infer their types: tests/ops says which may
  auto want = ops::evaluate(*made->graph, made->inputs);
  ASSERT_TRUE(want) << want.error().text();
  const std::string text = ir::print(*made->graph);
  auto got = testing::compiled_results(std::move(made->graph), made->inputs, way.opt);
  if (!got && got.error().code() == Code::not_supported && got.error()->what.find("string") != std::string::npos) return;
  ASSERT_TRUE(got) << got.error().text() << "\n" << text;
  ASSERT_EQ(got->size(), want->size());
  for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k]), "") << "result " << k << "\n" << text;
}

class CompiledSamples : public ::testing::TestWithParam<const ops::OpDef*> {};

TEST_P(CompiledSamples, AgreeWithTheReference) {
  const ops::OpDef& def = *GetParam();
  if (!def.deterministic) return;
  for (std::string_view text : def.samples) {
    SCOPED_TRACE(std::string(def.name) + ": " + std::string(text));
    auto sample = ops::parse_sample(def, text);
    ASSERT_TRUE(sample) << sample.error().text();
    for (const Way& way : kWays) check(def, *sample, way);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOp, CompiledSamples, ::testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const ::testing::TestParamInfo<const ops::OpDef*>& info) {
                           return std::string(info.param->domain == "com.microsoft" ? "Contrib" : "") + std::string(info.param->name);
                         });

}  // namespace
}  // namespace tenon::compiler
