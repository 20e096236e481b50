// SPDX-License-Identifier: Apache-2.0
// Shape data through chains of ops that exporters write.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::ops {
namespace {

TEST(ShapeData, PassesThroughChainsThatExportersWrite) {
  const auto graph = ir::parse(R"(graph main(x: f32[batch,seq,64]) {
    s = Shape(x)
    const zero: i64[] = 0
    const one: i64[] = 1
    const axes: i64[1] = [0]
    const tail: i64[2] = [4, 16]
    b = Gather(s, zero)
    n = Gather(s, one)
    b1 = Unsqueeze(b, axes)
    n1 = Unsqueeze(n, axes)
    to = Concat(b1, n1, tail, axis=0)
    y = Reshape(x, to)
    return y
  })",
                               table());
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ((*graph)->value((*graph)->outputs()[0]).type.text(), "f32[batch,seq,4,16]");
}

TEST(ShapeData, SettlesComparisonsOfSizes) {
  const auto graph = ir::parse(R"(graph main(x: f32[batch,seq]) {
    s = Shape(x)
    const minus: i64[] = -1
    const ones: i64[2] = [1, 1]
    e = Equal(s, minus)
    w = Where(e, ones, s)
    const one: f32[1,1] = [2]
    y = Expand(one, w)
    return y
  })",
                               table());
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ((*graph)->value((*graph)->outputs()[0]).type.text(), "f32[batch,seq]");
}

}  // namespace
}  // namespace tenon::ops
