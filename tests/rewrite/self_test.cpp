// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/self_test.h"

#include "helpers.h"

namespace tenon::tests {
namespace {

using namespace rewrite;

SelfTestResult test_of(std::string_view equation, Numerics numerics = Numerics::exact) {
  const Rule rule{.name = "rule", .docs = "", .equation = equation, .numerics = numerics};
  auto compiled = compile(rule, ops::table());
  if (!compiled) ADD_FAILURE() << compiled.error().text();
  return self_test(**compiled, ops::table());
}

TEST(SelfTest, ARightRuleHasInstancesAndRefusesMutants) {
  const SelfTestResult t =
      test_of("Mul(Mul(?x, Add(Erf(Div(?x, 1.4142135)), 1)), 0.5) => Gelu(?x) where float(?x)", Numerics::reassociating);
  EXPECT_EQ(t.faults, std::vector<std::string>());
  EXPECT_GE(t.instances, 2);
  EXPECT_GE(t.mutants, 10);
  EXPECT_NE(t.example.find("Erf"), std::string::npos);
}

TEST(SelfTest, AWrongRuleIsFound) {
  EXPECT_FALSE(test_of("Mul(?x, 2) => Add(?x, 1)").faults.empty());
  EXPECT_FALSE(test_of("Sub(?x, ?y) => Sub(?y, ?x)").faults.empty());
  EXPECT_FALSE(test_of("Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?q, ?p))").faults.empty());
}

TEST(SelfTest, AConditionThatIsTooWideIsFound) {
  EXPECT_FALSE(test_of("Softmax(?x, axis=?a) => Softmax(?x, axis=-1) where ?a == -1 or ?a == 0").faults.empty());
}

TEST(SelfTest, ConditionsThatNothingMeetsLeaveNoInstance) {
  const SelfTestResult t = test_of("Neg(Neg(?x)) => ?x where rank(?x) == 77");
  EXPECT_EQ(t.instances, 0);
  EXPECT_EQ(t.faults, std::vector<std::string>());
}

TEST(SelfTest, RestsOptionalOperandsAndSeveralRootsAreMadeUp) {
  EXPECT_GT(test_of("Concat(?a..., Neg(Neg(?b)), ?c..., axis=1) => Concat(?a..., ?b, ?c..., axis=1)").instances, 0);
  EXPECT_GT(test_of("Neg(Clip(?x, 0, ?high?)) => Neg(Clip(?x, 0, ?high))").instances, 0);
  EXPECT_GT(test_of("Sin(?x), Cos(Neg(?x)) => Sin(?x), Cos(?x)", Numerics::reassociating).instances, 0);
}

}  // namespace
}  // namespace tenon::tests
