// SPDX-License-Identifier: Apache-2.0
#include "import/state_pairs.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::import {
namespace {

constexpr const char* kDecoder =
    "graph(x: f32[1,n,4], past_0: f32[1,p,4], past_1: f32[1,p,4], m: f32[4], b: f32[batch,4]) { "
    "k = Concat(past_0, x, axis=1) v = Concat(past_1, x, axis=1) m2 = Relu(m) b2 = Relu(b) c = Cast(m, to=11) "
    "return k as present_0, v as present_1, m2, b2, c }";

/// The text of the graph's states; else the error.
std::string paired(const std::vector<std::string>& pairs, std::string_view text = kDecoder) {
  const auto graph = ir::parse(text, ops::table());
  if (!graph) return graph.error().text();
  if (auto done = pair_states(**graph, pairs); !done) return done.error().text();
  std::string out;
  for (const ir::State& s : (*graph)->states()) {
    out += s.name + " -> " + (*graph)->output_name(s.output);
    if (s.growing) out += " axis " + std::to_string(s.growing->axis) + " of " + std::to_string(s.growing->capacity);
    if (s.initial) out += " from an initial value";
    out += "; ";
  }
  return out;
}

#define EXPECT_REFUSED(what, ...)                            \
  do {                                                       \
    const std::string error = paired(__VA_ARGS__);           \
    EXPECT_NE(error.find(what), std::string::npos) << error; \
  } while (false)

TEST(StatePairs, PatternsPairInputsWithOutputs) {
  EXPECT_EQ(paired({"past_*=present_*:4096", "m=m2"}), "past_0 -> present_0 axis 1 of 4096; past_1 -> present_1 axis 1 of 4096; m -> m2; ");
  EXPECT_EQ(paired({"b=b2"}), "b -> b2; ");
  EXPECT_EQ(paired({"past_1=present_1:7"}), "past_1 -> present_1 axis 1 of 7; ");
}

TEST(StatePairs, CapacityIsTheUpperBoundOfTheSize) {
  EXPECT_EQ(paired({"past=now"}, "symbol p in 0 to 64 graph(x: f32[n], past: f32[p]) { now = Concat(past, x, axis=0) return now }"),
            "past -> now axis 0 of 64; ");
}

TEST(StatePairs, DefaultsAreInitialValues) {
  EXPECT_EQ(paired({"m=n"}, "graph(x: f32[2], m: f32[2] = [1, 2]) { n = Add(m, x) return n }"), "m -> n from an initial value; ");
}

TEST(StatePairs, WrongPairsSayWhatToWrite) {
  EXPECT_REFUSED("did you mean 'past_0'", {"pst_0=present_0:8"});
  EXPECT_REFUSED("did you mean 'present_0'", {"past_0=presnt_0:8"});
  EXPECT_REFUSED("no output 'now_0'", {"past_*=now_*:8"});
  EXPECT_REFUSED("needs a capacity", {"past_*=present_*"});
  EXPECT_REFUSED("--state 'past_*=present_*:4096'", {"past_*=present_*"});
  EXPECT_REFUSED("one state alone", {"past_0=present_0:8", "past_*=present_*:8"});
  EXPECT_REFUSED("one state alone", {"past_0=present_0:8", "past_1=present_0:8"});
  EXPECT_REFUSED("cannot be one state", {"m=c"});
  EXPECT_REFUSED("cannot be one state", {"m=b2"});
  EXPECT_REFUSED(
      "differ in more than one size", {"past=now:8"},
      "graph(x: f32[n,q], z: f32[p + n,2], past: f32[p,q]) { a = Concat(past, x, axis=0) now = Concat(a, z, axis=1) return now }");
  EXPECT_REFUSED("a state of fixed shape has no capacity", {"m=m2:8"});
  for (const char* text : {"m", "m=", "=m2", "m*=m2", "past_0=present_0:0"}) EXPECT_REFUSED("PAST=PRESENT", {text});
}

}  // namespace
}  // namespace tenon::import
