// SPDX-License-Identifier: Apache-2.0
// What is special about segments that run in OpenVINO.
#include <gtest/gtest.h>

#include "../compiler/helpers.h"
#include "peers.h"

namespace tenon::tests {
namespace {

class Openvino : public testing::Test {
 protected:
  void SetUp() override {
    backends_ = with_peer("openvino");
    if (backends_.empty()) GTEST_SKIP() << "needs OpenVINO";
  }
  /// Why the first node is refused; empty: it is not.
  std::string refusal(std::string_view text) {
    const auto graph = ir::parse(text, ops::table());
    EXPECT_TRUE(graph) << graph.error().text();
    const auto taken = backends_[0]->supports(**graph, (*graph)->first());
    if (taken) return {};
    EXPECT_EQ(taken.error().code(), Code::not_supported) << taken.error().text();
    return taken.error()->what;
  }

  backend::Backends backends_;
};

TEST_F(Openvino, RefusesWhatItWouldComputeWithOtherNumbers) {
  const auto says = [&](std::string_view text, std::string_view why) {
    EXPECT_NE(refusal(text).find(why), std::string::npos) << text << ": " << refusal(text);
  };
  says("graph main(x: u8[n], y: u8[n]) { z = Add(x, y) return z }", "small ones saturate");
  says("graph main(x: f32[n]) { z = Cast(x, to=2) return z }", "small ones saturate");
  says("graph main(x: i64[n], y: i64[n]) { z = Less(x, y) return z }", "compares integers as f32");
  says("graph main(x: f64[n]) { z = Neg(x) return z }", "elements of f64");
  says("graph main(x: f32[n]) { z = Sum(x) return z }", "writes over it");
  says(
      "graph main(x: f32[n,4], c: bool[]) { z = If(c) then_branch={ graph(a: f32[n,4]) { b = ArgMax(a) d = Neg(a) return d } } captures=[x] "
      "else_branch={ graph(a: f32[n,4]) { d = Exp(a) return d } } captures=[x] return z }",
      "NaN");
}

TEST_F(Openvino, TakesIndicesAndSizes) {
  EXPECT_EQ(refusal("graph main(x: f32[n,4], i: i64[m]) { z = Gather(x, i) return z }"), "");
  EXPECT_EQ(refusal("graph main(x: f32[n,4], i: i64[2]) { z = Reshape(x, i) return z }"), "");
  EXPECT_EQ(refusal("graph main(x: i8[n], s: f32[]) { z = DequantizeLinear(x, s) return z }"), "");
  EXPECT_EQ(refusal("graph main(x: i64[n]) { z = Cast(x, to=1) return z }"), "");
}

TEST_F(Openvino, ReportsCopiedWeights) { EXPECT_TRUE(backends_[0]->overheads().copies_weights); }

}  // namespace
}  // namespace tenon::tests
