// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_ops.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tenon::ir {
namespace {

constexpr const char* kDecoder = R"(symbol past in 0 to 4096
graph main(x: f32[4], k: f32[2,past], m: f32[4]) {
  const w: f32[4] = [1, 2, 3, 4]
  new_m: f32[4] = Add(x, m)
  k2: f32[2,past] = Relu(k)
  state cache(k) = k2 grows 1 to 4096
  state "moment 0"(m) = new_m from [0, 1, 2, 3]
  return new_m, k2 as present
}
)";

struct StateTest : testing::Test {
  fake::Table ops;

  std::unique_ptr<Graph> parsed(std::string_view text) {
    auto g = parse(text, ops);
    EXPECT_TRUE(g) << g.error().text();
    return g ? *std::move(g) : nullptr;
  }
  /// The error for one `state` line after a graph of an input x: f32[2,n], y: f32[2,3] and an output of each.
  std::string refused(const std::string& line) {
    auto g = parse("graph(x: f32[2,n], y: f32[2,3]) { a = Relu(x) b = Relu(y) " + line + " return a, b }", ops);
    return g ? "" : g.error().text();
  }
};

TEST_F(StateTest, TextPrintsAndParsesTheSame) {
  const auto g = parsed(kDecoder);
  ASSERT_TRUE(g);
  EXPECT_EQ(print(*g), kDecoder);
  ASSERT_TRUE(verify(*g));
  ASSERT_EQ(g->states().size(), 2u);
  EXPECT_EQ(g->states()[0].growing, (GrowingAxis{1, 4096}));
  EXPECT_EQ(g->states()[0].output, 1u);
  EXPECT_EQ(g->states()[1].initial->tensor()->as<float>()[3], 3);
}

TEST_F(StateTest, SecondOutputOfOneValueIsNamedByItsNumber) {
  const auto g = parsed("graph(x: f32[2]) { y = Relu(x) state s(x) = y output 1 return y, y as z }");
  ASSERT_TRUE(g);
  EXPECT_EQ(g->states()[0].output, 1u);
  EXPECT_EQ(print(*parsed(print(*g))), print(*g));
}

TEST_F(StateTest, CloneKeepsStates) {
  const auto g = parsed(kDecoder);
  ASSERT_TRUE(g);
  EXPECT_EQ(print(*g->clone()), kDecoder);
  EXPECT_TRUE(verify(*g->clone()));
}

TEST_F(StateTest, ErasedOutputsMoveOrEndStates) {
  const auto g = parsed(kDecoder);
  ASSERT_TRUE(g);
  g->erase_output(0);
  ASSERT_EQ(g->states().size(), 1u);
  EXPECT_EQ(g->states()[0].name, "cache");
  EXPECT_EQ(g->states()[0].output, 0u);
  EXPECT_TRUE(verify(*g));
}

TEST_F(StateTest, ReplacedValuesStayStates) {
  const auto g = parsed(kDecoder);
  ASSERT_TRUE(g);
  const ValueId k2 = g->find_value("k2");
  ASSERT_TRUE(g->replace_all_uses(k2, g->find_value("k")));
  EXPECT_TRUE(verify(*g));
  EXPECT_EQ(g->outputs()[g->states()[0].output], g->find_value("k"));
}

TEST_F(StateTest, WrongStatesAreRefused) {
  EXPECT_EQ(refused("state s(y) = b"), "");
  EXPECT_NE(refused("state s(y) = a").find("one shape"), std::string::npos) << refused("state s(y) = a");
  EXPECT_EQ(refused("state s(x) = a"), "") << "n is fixed by a context";
  auto follows =
      parse("graph(x: f32[n], y: f32[n]) { a = Relu(x) b = Relu(y) state s(x) = a grows 0 to 8 state t(y) = b return a, b }", ops);
  ASSERT_FALSE(follows);
  EXPECT_NE(follows.error().text().find("one shape"), std::string::npos) << follows.error().text();
  EXPECT_NE(refused("state s(y) = b grows 1 to 8").find("must be a symbol"), std::string::npos);
  EXPECT_NE(refused("state s(x) = a grows 2 to 8").find("an axis below 2"), std::string::npos);
  EXPECT_NE(refused("state s(x) = a grows 1 to 0").find("capacity"), std::string::npos);
  EXPECT_NE(refused("state s(y) = b state t(y) = b output 1").find("belongs to a state already"), std::string::npos);
  EXPECT_NE(refused("state s(y) = b state s(x) = a grows 1 to 8").find("two states have this name"), std::string::npos);
  EXPECT_NE(refused("state s(a) = b").find("needs an input"), std::string::npos);
  EXPECT_NE(refused("state s(y) = y").find("must be an output"), std::string::npos);
}

}  // namespace
}  // namespace tenon::ir
