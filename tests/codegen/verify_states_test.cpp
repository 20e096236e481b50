// SPDX-License-Identifier: Apache-2.0
// The verifier's own proof that a state may be written in place: plans as text that are sound, and plans that are not.
#include "codegen/analysis/verify_states.h"

#include <gtest/gtest.h>

#include "codegen/text/parse_plan.h"

namespace tenon::codegen {
namespace {

/// The first invariant that does not hold; empty: the plan is sound.
std::string wrong(const std::string& text) {
  Symbols symbols;
  const auto plan = parse_plan(text, symbols);
  return plan ? "" : plan.error()->found.empty() ? plan.error().text() : plan.error()->found;
}

/// w: f32[4,4] is v0 and becomes v1; v2 is another result, v3 another input, t4 a temporary.
std::string with_groups(const std::string& groups, const std::string& new_value = "v1: f32[4, 4] fixed") {
  return "plan\n  v0: f32[4, 4] fixed\n  " + new_value +
         "\n  v2: f32[4, 4] fixed\n  v3: f32[4, 4] fixed\n  t4: f32[4, 4]\n  inputs v0, v3\n  outputs v1, v2\n"
         "  state w input 0 output 0 in place\n" +
         groups;
}

const std::string kRead = "nests\n  for 4, 4\n    x0 = v0[i0, i1]\n    v2[i0, i1] = x0\n";
const std::string kWrite = "nests\n  for 4, 4\n    x0 = v3[i0, i1]\n    v1[i0, i1] = x0\n";
const std::string kUpdate = "nests\n  for 4, 4\n    x0 = v0[i0, i1]\n    x1 = v3[i0, i1]\n    v1[i0, i1] = add(x0, x1)\n";
const std::string kOther = "nests\n  for 4, 4\n    x0 = v3[i0, i1]\n    v2[i0, i1] = x0\n";
constexpr const char* kLate = "its old value is read after it has changed";

#define EXPECT_SOUND(text) EXPECT_EQ(wrong(text), "") << (text)
#define EXPECT_WRONG(text, what) EXPECT_NE(wrong(text).find(what), std::string::npos) << wrong(text) << (text)

TEST(VerifyStates, ReadersComeBeforeTheWrite) {
  EXPECT_SOUND(with_groups(kRead + kWrite));
  EXPECT_WRONG(with_groups(kWrite + kRead), kLate);
  EXPECT_SOUND(with_groups("control inputs v0 outputs v2\n" + kWrite));
  EXPECT_WRONG(with_groups(kWrite + "control inputs v0 outputs v2\n"), kLate);
}

TEST(VerifyStates, MapsReadTheElementThatTheyWrite) {
  EXPECT_SOUND(with_groups(kOther + kUpdate));
  EXPECT_WRONG(with_groups(kOther + "nests\n  for 4, 4\n    x0 = v0[i1, i0]\n    v1[i0, i1] = x0\n"), kLate);
  EXPECT_WRONG(
      with_groups(kOther + "nests\n  for 4, 4, +4\n    x0 = v0[i0, i1]\n    x1 = v3[i0, i2]\n    v1[i0, i1] = sum of mul(x0, x1)\n"),
      kLate);
  EXPECT_WRONG(with_groups(kUpdate + kRead), kLate);
}

/// Nests of a group share its tasks: the first one of a later task runs after the second one of an earlier task.
TEST(VerifyStates, NestsOfAGroupRunAlternately) {
  const auto nest = [](const std::string& group) { return group.substr(group.find("  for")); };
  EXPECT_WRONG(with_groups("nests outer 1\n" + nest(kRead) + nest(kWrite)), kLate);
  EXPECT_WRONG(with_groups("nests outer 1\n" + nest(kWrite) + nest(kRead)), kLate);
  EXPECT_SOUND(with_groups("nests outer 1\n" + nest(kOther) + nest(kUpdate)));
}

/// Later tiles of a product read what the epilogue of earlier ones would have changed.
TEST(VerifyStates, EpilogueWritesNothingThatItsProductReads) {
  const auto product = [](const std::string& operand, const std::string& added) {
    return "contract\n  for 4, 4, +4\n    x0 = " + operand + "[i0, i2]\n    x1 = v3[i2, i1]\n    t4[i0, i1] = sum of mul(x0, x1)\n" +
           "  then for 4, 4\n    x0 = t4[i0, i1]\n    x1 = " + added + "\n    v1[i0, i1] = add(x0, x1)\n";
  };
  EXPECT_SOUND(with_groups(kOther + product("v3", "v0[i0, i1]")));
  EXPECT_WRONG(with_groups(kOther + product("v3", "v0[i1, i0]")), kLate);
  EXPECT_WRONG(with_groups(kOther + product("v0", "v3[i0, i1]")), kLate);
  EXPECT_WRONG(with_groups(kOther + product("v0", "v0[i0, i1]")), kLate);
}

TEST(VerifyStates, OnlyKernelsWriteTheState) {
  EXPECT_WRONG(with_groups(kRead + "control inputs v3 outputs v1\n"), "a step without a kernel writes it");
}

TEST(VerifyStates, NewValueHasTheLayoutOfTheOldOne) {
  EXPECT_WRONG(with_groups(kRead + kWrite, "v1: f32[4, 4] in order 10"), "memory of another layout");
  EXPECT_WRONG(with_groups(kRead + "nests\n  for 4, 4\n    x0 = v3[i0, i1]\n    t4[i0, i1] = x0\n", "v1: f32[4, 4] shares t4 fixed"),
               "a new value without memory of its own");
}

/// Rows that are new to a growing state may be written at any time, if it is certain that they are new.
TEST(VerifyStates, AppendedRowsNeedAKnownIndex) {
  const auto append = [](const std::string& index) {
    return "plan\n  symbol n, p in 0 to 16\n  v0: f32[n, 4] fixed\n  v1: f32[p, 4] grows 0 to 16 fixed\n"
           "  v2: f32[n + p, 4] grows 0 to 16 fixed\n  v3: f32[p, 4] fixed\n  v4: i64[n] fixed\n  inputs v0, v1, v4\n  outputs v2, v3\n"
           "  state k input 1 output 0 in place\n  limit v4 below p\n"
           "nests\n  for n, 4\n    x0 = v0[i0, i1]\n    x1 = v4[i0]\n    v2[" +
           index +
           ", i1] = x0\n"
           "nests\n  for p, 4\n    x0 = v1[i0, i1]\n    v3[i0, i1] = x0\n";
  };
  EXPECT_SOUND(append("add(i0, [p])"));
  EXPECT_WRONG(append("i0"), kLate);
  EXPECT_WRONG(append("x1"), kLate);
}

}  // namespace
}  // namespace tenon::codegen
