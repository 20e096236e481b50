// SPDX-License-Identifier: Apache-2.0
#include "ir/dot.h"

#include <gtest/gtest.h>

#include "fake_ops.h"

namespace tenon::ir {
namespace {

TEST(Dot, DrawsRepeatedLayersOnce) {
  fake::Table ops;
  Graph g(ops);
  ValueId at = g.add_input("x", Type(DType::f32, {4}));
  auto put = [&](std::string_view op, std::vector<ValueId> in) { at = g.node(g.insert(ops[op], std::move(in), 1)).outputs[0]; };
  put("Shape", {at});
  for (int layer = 0; layer < 12; ++layer) {
    ValueId in = at;
    put("Gemm", {at, at});
    put("Relu", {at});
    put("Clip", {at});
    put("Add", {at, in});
  }
  put("Reshape", {at, at});
  g.add_output(at, "y");
  std::string text = dot(g);
  EXPECT_NE(text.find("x 12"), text.npos) << text;
  EXPECT_NE(text.find("dashed"), text.npos);
  auto count = [&](std::string_view word) {
    size_t n = 0;
    for (size_t i = text.find(word); i != text.npos; i = text.find(word, i + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("label=\"Gemm\""), 1u);
  text = dot(g, {.collapse = false});
  EXPECT_EQ(count("label=\"Gemm\""), 12u);
}

}  // namespace
}  // namespace tenon::ir
