// SPDX-License-Identifier: Apache-2.0
// The tests that follow from the equations themselves: made-up graphs that must match and stay equal by reference, and graphs with one
// fault, which the rule must refuse or be right about all the same.
#include <gtest/gtest.h>

#include <map>

#include "ops/core/op.h"
#include "rewrite/self_test/self_test.h"
#include "rules/registry/registry.h"

namespace tenon::tests {
namespace {

std::vector<rules::Entry> equations() {
  std::vector<rules::Entry> out;
  for (const rules::Entry& e : rules::all_rules()) {
    const auto rule = rules::compile(e, ops::table());
    if (!rule || (*rule)->equation) out.push_back(e);
  }
  return out;
}

class Equation : public testing::TestWithParam<rules::Entry> {};

TEST_P(Equation, AreRightOnMadeUpGraphs) {
  const auto rule = rules::compile(GetParam(), ops::table());
  ASSERT_TRUE(rule) << rule.error().text();
  const rewrite::SelfTestResult t = rewrite::self_test(**rule, ops::table());
  for (const std::string& fault : t.faults) ADD_FAILURE() << fault;
  EXPECT_GT(t.instances, 0) << "no instance found";
  EXPECT_GT(t.mutants, 0) << "no fault was refused";
}

TEST(Equations, EveryKindOfFaultIsRefusedSomewhere) {
  std::map<std::string, int> refused;
  for (const char* name : {"gelu_erf", "ort_gelu_tanh", "complex_mul_split", "transpose_compose", "clip_relu", "layer_norm_scale"}) {
    const auto rule = rewrite::compile(*rules::rules_named(name).at(0), ops::table());
    ASSERT_TRUE(rule) << rule.error().text();
    for (const auto& [kind, count] : rewrite::self_test(**rule, ops::table()).refused) refused[kind] += count;
  }
  for (const char* kind : {"constant", "attribute", "op", "domain", "result", "dtype", "fewer operands", "more operands",
                           "operands swapped", "variable", "user", "output"})
    EXPECT_GT(refused[kind], 0) << kind;
}

INSTANTIATE_TEST_SUITE_P(Library, Equation, testing::ValuesIn(equations()),
                         [](const auto& info) { return std::string(info.param.rule->name); });

}  // namespace
}  // namespace tenon::tests
