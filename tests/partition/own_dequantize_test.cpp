// SPDX-License-Identifier: Apache-2.0
#include "partition/own_dequantize.h"

#include "ir/text.h"
#include "named.h"

namespace tenon::partition {
namespace {

/// Uses of each DequantizeLinear, in the graph's order.
std::vector<size_t> uses_after_copying(std::string_view text) {
  const auto graph = graph_of(text);
  copy_dequantize_to_readers(*graph);
  EXPECT_TRUE(ir::infer_all(*graph));
  std::vector<size_t> out;
  for (const ir::NodeId n : graph->nodes())
    if (graph->node(n).is("DequantizeLinear")) out.push_back(graph->value(graph->node(n).outputs[0]).uses.size());
  return out;
}

using Uses = std::vector<size_t>;

TEST(OwnDequantize, EachReaderGetsACopy) {
  EXPECT_EQ(uses_after_copying(R"(graph main(x: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    a = DequantizeLinear(x, scale, zero) s = Exp(a) t = Neg(a) u = Abs(a) return s, t, u })"),
            (Uses{1, 1, 1}));
}

TEST(OwnDequantize, OneReaderKeepsTheOriginal) {
  EXPECT_EQ(uses_after_copying(R"(graph main(x: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    a = DequantizeLinear(x, scale, zero) s = Add(a, a) return s })"),
            (Uses{2}));
}

TEST(OwnDequantize, GraphOutputKeepsTheOriginal) {
  EXPECT_EQ(uses_after_copying(R"(graph main(x: u8[4]) {
    const scale: f32[] = 0.5 const zero: u8[] = 3
    a = DequantizeLinear(x, scale, zero) s = Exp(a) return a, s })"),
            (Uses{1, 1}));
}

}  // namespace
}  // namespace tenon::partition
