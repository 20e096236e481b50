// SPDX-License-Identifier: Apache-2.0
// Ops that are defined at run time: several of them share functions, which read the op's data from `user_data`.
#include "run_time_op.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/infer/verify_types.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

class RunTimeOp : public testing::Test {
 protected:
  const Multiples twice_{"Twice", {2}}, both_{"Both", {1, -1}};
  const OpDef* const more_[2] = {&twice_.def(), &both_.def()};
  const Result<std::unique_ptr<ir::OpTable>> table_ = table_with(more_);
};

TEST_F(RunTimeOp, FunctionsReadTheOpsUserData) {
  ASSERT_TRUE(table_) << table_.error().text();
  const auto graph = ir::parse(R"(graph main(x: f32[n]) {
    a = test.here::Twice(x, shift=0.5)
    y = test.here::Both(a)
    return y
  })",
                               **table_);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_TRUE(verify_types(**graph));
  EXPECT_EQ((*graph)->value((*graph)->outputs()[0]).type.text(), "f32[2,1,n]");
  const Tensor x = Tensor::of_f32({3}, std::vector<float>{-1, 0, 4});
  for (const Mode mode : {Mode::declared, Mode::wide}) {
    EvaluateOptions options;
    options.mode = mode;
    const auto y = evaluate(**graph, {&x, 1}, options);
    ASSERT_TRUE(y) << y.error().text();
    EXPECT_EQ(numbers_of((*y)[0]), (std::vector<double>{-1.5, 0.5, 8.5, 1.5, -0.5, -8.5}));
  }
}

TEST_F(RunTimeOp, UndeclaredOperandsAndAttributesAreRefused) {
  ASSERT_TRUE(table_) << table_.error().text();
  const auto refused = [&](std::string_view call) {
    const auto graph = ir::parse("graph main(x: f32[2]) { y = test.here::" + std::string(call) + " return y }", **table_);
    return graph ? "nothing" : graph.error().text();
  };
  EXPECT_NE(refused("Twice(x, scale=2.0)").find("scale"), std::string::npos) << refused("Twice(x, scale=2.0)");
  EXPECT_NE(refused("Twice(x, x)").find("Twice"), std::string::npos) << refused("Twice(x, x)");
}

}  // namespace
}  // namespace tenon::ops
