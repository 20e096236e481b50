// SPDX-License-Identifier: Apache-2.0
// Which nodes become one kernel: graphs in text form, and the groups that they become.
#include <gtest/gtest.h>

#include <set>

#include <algorithm>

#include "../segments.h"

#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan.h"
#include "codegen/plan/plan_options.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

struct Planned {
  std::unique_ptr<ir::Graph> graph;
  Plan plan;

  /// "contract: MatMul Add Gelu" a line: the kind, and the nodes that it computes, in the graph's order.
  std::string text() const {
    static constexpr const char* kKinds[] = {"nests", "contract", "attention", "segment", "sizes", "control"};
    std::string out;
    for (const Group& g : plan.groups) {
      out += std::string(kKinds[static_cast<int>(g.kind())]) + ":";
      for (ir::NodeId n : nodes_of(g)) out += " " + graph->node(n).op->name;
      out += "\n";
    }
    return out;
  }
  std::vector<ir::NodeId> nodes_of(const Group& g) const {
    std::vector<ir::NodeId> nodes;
    auto add = [&](ir::NodeId n) {
      if (n && std::find(nodes.begin(), nodes.end(), n) == nodes.end()) nodes.push_back(n);
    };
    for (const Nest& nest : g.nests) std::for_each(nest.nodes.begin(), nest.nodes.end(), add);
    if (g.epilogue) std::for_each(g.epilogue->map.nodes.begin(), g.epilogue->map.nodes.end(), add);
    add(g.node);
    std::sort(nodes.begin(), nodes.end(), [&](ir::NodeId a, ir::NodeId b) { return graph->is_before(a, b); });
    return nodes;
  }
};

Planned planned(std::string_view text, PlanOptions options = {}) {
  Planned out;
  options.verify = true;
  auto graph = ir::parse(text, ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return out;
  const std::vector<ir::Segment> segments = tests::nodes_alone(**graph);
  options.segments = segments;
  auto made = plan(**graph, **target_named("x86_avx512"), options);
  EXPECT_TRUE(made) << made.error().text();
  out.graph = std::move(*graph);
  if (made) out.plan = std::move(*made);
  return out;
}

std::string groups(std::string_view text, PlanOptions options = {}) { return planned(text, options).text(); }

constexpr std::string_view kLinear =
    "graph main(x: f32[n,64], w: f32[64,128], b: f32[128]) { h = MatMul(x, w) s = Add(h, b) y = Gelu(s) return y }";

TEST(Plan, RunsBiasAndActivationOnTheTileOfAProduct) { EXPECT_EQ(groups(kLinear), "contract: MatMul Add Gelu\n"); }

TEST(Plan, RunsAQuantizedLayerAsOneKernelThatStoresBytes) {
  constexpr std::string_view kText = R"(graph main(x: u8[n,4]) {
    const w: i8[4,3] = [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3]
    const zx: u8[] = [3]
    const c: f32[3] = [0.5, 0.25, 2]
    const bias: f32[3] = [1, 2, 3]
    const s: f32[] = [0.5]
    const z: u8[] = [120]
    p = MatMulInteger(x, w, zx)
    f = Cast(p, to=1)
    m = Mul(f, c)
    a = Add(m, bias)
    y = QuantizeLinear(a, s, z)
    return y
  })";
  EXPECT_EQ(groups(kText), "contract: MatMulInteger Cast Mul Add QuantizeLinear\n");
}

TEST(Plan, StoresBytesThatItsReadersDequantize) {
  constexpr std::string_view kText = R"(graph main(x: u8[n,4]) {
    const w: i8[4,4] = [1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, 4, 3, 2, 1]
    const v: i8[4,4] = [3, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, 4, 3, 2, 1]
    const s: f32[] = [0.5]
    p = MatMulInteger(x, w)
    pf = Cast(p, to=1)
    pq = QuantizeLinear(pf, s)
    pd = DequantizeLinear(pq, s)
    q = MatMulInteger(x, v)
    qf = Cast(q, to=1)
    qq = QuantizeLinear(qf, s)
    qd = DequantizeLinear(qq, s)
    a = Add(pd, qd)
    y = QuantizeLinear(a, s)
    return y
  })";
  const Planned made = planned(kText);
  EXPECT_EQ(made.text(),
            "contract: MatMulInteger Cast QuantizeLinear\n"
            "contract: MatMulInteger Cast QuantizeLinear DequantizeLinear DequantizeLinear Add QuantizeLinear\n");
}

TEST(Plan, FindsTheRangeOfRowsWhereTheyAreMade) {
  EXPECT_EQ(groups("graph main(x: f32[n,64], g: f32[64]) { h = LayerNormalization(x, g) low = ReduceMin(h, keepdims=0) high = "
                   "ReduceMax(h, keepdims=0) r = Sub(high, low) y = Mul(h, r) return y }"),
            "nests: LayerNormalization ReduceMin ReduceMax\nnests: ReduceMin\nnests: ReduceMax\nnests: Sub Mul\n");
}

TEST(Plan, WithoutFusionIsOneGroupANode) {
  EXPECT_EQ(groups(kLinear, {.fuse = false, .channels_last = false, .outer_symbols = {}}), "contract: MatMul\nnests: Add\nnests: Gelu\n");
}

TEST(Plan, KeepsAProductThatTwoReadersNeed) {
  EXPECT_EQ(groups("graph main(x: f32[n,64], w: f32[64,128]) { h = MatMul(x, w) y = Relu(h) return y, h }"),
            "contract: MatMul\nnests: Relu\n");
}

TEST(Plan, RunsAResidualOnTheTileOfAProduct) {
  EXPECT_EQ(groups("graph main(x: f32[n,64], w: f32[64,64], b: f32[64]) { h = MatMul(x, w) s = Add(h, b) y = Add(x, s) return y }"),
            "contract: MatMul Add Add\n");
}

TEST(Plan, MakesOneLoopOfMaps) {
  EXPECT_EQ(groups("graph main(x: f32[n,8], y: f32[8]) { a = Mul(x, y) b = Sigmoid(a) c = Mul(a, b) d = Exp(c) return d }"),
            "nests: Mul Sigmoid Mul Exp\n");
}

/// Channels stand next to each other behind the convolution, and the mean of each walks its pixels.
TEST(Plan, LeavesAMeanThatStepsOverChannelsToItself) {
  constexpr std::string_view kText = R"(graph main(x: f32[1,32,9,9], w: f32[32,1,3,3], v: f32[8,32,1,1]) {
    const axes: i64[2] = [2, 3]
    c = Conv(x, w, group=32)
    r = Tanh(c)
    m = ReduceMean(r, axes)
    s = Mul(r, m)
    y = Conv(s, v)
    return y
  })";
  EXPECT_EQ(groups(kText).find("Tanh ReduceMean"), std::string::npos) << groups(kText);
}

TEST(Plan, MakesOneGroupOfASoftmax) { EXPECT_EQ(groups("graph main(x: f32[n,100]) { y = Softmax(x) return y }"), "nests: Softmax\n"); }

TEST(Plan, MakesOneGroupOfANormAndTheResidualBeforeIt) {
  EXPECT_EQ(
      groups("graph main(x: f32[n,64], r: f32[n,64], s: f32[64], b: f32[64]) { a = Add(x, r) y = LayerNormalization(a, s, b) return y }"),
      "nests: Add LayerNormalization\n");
}

TEST(Plan, ReadsThroughTransposes) {
  EXPECT_EQ(groups("graph main(x: f32[n,8,16]) { t = Transpose(x, perm=[0, 2, 1]) y = Relu(t) return y }"), "nests: Transpose Relu\n");
  EXPECT_EQ(
      groups(
          "graph main(x: f32[64,n], w: f32[128,64]) { t = Transpose(x, perm=[1, 0]) u = Transpose(w, perm=[1, 0]) y = MatMul(t, u) return y }"),
      "contract: Transpose Transpose MatMul\n");
}

TEST(Plan, ReadsThroughReshapesSlicesAndConcats) {
  EXPECT_EQ(groups(R"(graph main(x: f32[n,12]) {
    const shape: i64[3] = [-1, 3, 4]
    const from: i64[1] = [1]
    const to: i64[1] = [3]
    const axis: i64[1] = [1]
    r = Reshape(x, shape)
    s = Slice(r, from, to, axis)
    e = Exp(s)
    c = Concat(e, s, axis=1)
    return c
  })"),
            "nests: Slice Exp Concat\nnests: Slice Concat\n");
}

TEST(Plan, RunsAttentionAsOneGroup) {
  EXPECT_EQ(groups("graph main(q: f32[b,4,s,16], k: f32[b,4,t,16], v: f32[b,4,t,16]) { y = Attention(q, k, v) return y }"),
            "attention: Attention\n");
}

TEST(Plan, WritesTheResultOfAttentionWhereATranspositionWouldPutIt) {
  const std::string text = R"(graph main(q: f32[b,4,s,16], k: f32[b,4,t,16], v: f32[b,4,t,16], w: f32[64,8]) {
    const shape: i64[3] = [0, 0, 64]
    y = Attention(q, k, v)
    z = Transpose(y, perm=[0, 2, 1, 3])
    r = Reshape(z, shape)
    o = MatMul(r, w)
    return %
  })";
  const auto returning = [&](std::string what) { return groups(std::string(text).replace(text.find('%'), 1, what)); };
  EXPECT_EQ(returning("o"), "attention: Attention Transpose\ncontract: MatMul\n");
  EXPECT_EQ(returning("z"), "attention: Attention Transpose\n");
  EXPECT_EQ(returning("o, y"), "attention: Attention\nnests: Transpose\ncontract: MatMul\n") << "both are wanted";
}

/// Whether some array that a group writes grows with the product of the two sizes.
bool grows_with_both(const Planned& p, std::string_view a, std::string_view b) {
  const auto names = [](const Array& array, std::string_view name) {
    return std::any_of(array.shape.begin(), array.shape.end(), [&](Dim d) { return d.text() == name; });
  };
  bool found = false;
  for (const Group& g : p.plan.groups)
    for (const Nest& n : g.nests)
      for (const NestOutput& o : n.outputs) found |= names(p.plan.arrays[o.array], a) && names(p.plan.arrays[o.array], b);
  return found;
}

/// %: what stands between the distance of key and query and the mask.
Planned masked(std::string_view middle) {
  std::string text = R"(graph main(q: f32[b,4,s,16], k: f32[b,4,t,16], v: f32[b,4,t,16], x: f32[32], keep: bool[b,1,1,t], any: i64[s,t]) {
    const zero: i64[] = [0]
    const one: i64[] = [1]
    const first: i64[1] = [0]
    const second: i64[1] = [1]
    const none: f32[] = [0]
    const low: f32[] = [-3.4e38]
    qs = Shape(q, start=2, end=3)
    ks = Shape(k, start=2, end=3)
    queries = Squeeze(qs)
    keys = Squeeze(ks)
    i = Range(zero, queries, one)
    j = Range(zero, keys, one)
    row = Unsqueeze(i, second)
    column = Unsqueeze(j, first)
    %
    y = Attention(q, k, v, mask)
    return y
  })";
  return planned(text.replace(text.find('%'), 1, middle));
}

TEST(Plan, ComputesAMaskOfPositionsAndKeysInsideAttention) {
  const Planned p = masked("past = LessOrEqual(column, row) seen = And(past, keep) mask = Where(seen, none, low)");
  EXPECT_FALSE(grows_with_both(p, "s", "t")) << text_of(p.plan);
}

TEST(Plan, StoresABiasByDistanceAsOneElementADiagonal) {
  const Planned p = masked("d = Sub(column, row) f = Cast(d, to=1) g = Abs(f) l = Sqrt(g) mask = Tanh(l)");
  EXPECT_FALSE(grows_with_both(p, "s", "t")) << text_of(p.plan);
  EXPECT_NE(text_of(p.plan).find("[s + t]"), std::string::npos) << text_of(p.plan);
}

TEST(Plan, StoresWhatIsNotTheSameAlongDiagonals) {
  const Planned p = masked("d = Add(column, row) f = Cast(d, to=1) g = Abs(f) l = Sqrt(g) mask = Tanh(l)");
  EXPECT_EQ(text_of(p.plan).find("[s + t]"), std::string::npos) << text_of(p.plan);
}

TEST(Plan, LooksABiasUpInsideAttentionWhereItWouldBeAsLargeAsTheScores) {
  const Planned p = masked("mask = Gather(x, any)");
  EXPECT_FALSE(grows_with_both(p, "s", "t")) << text_of(p.plan);
}

TEST(Plan, LeavesOutWhatNobodyReads) { EXPECT_EQ(groups("graph main(x: f32[n]) { a = Exp(x) b = Neg(x) return b }"), "nests: Neg\n"); }

constexpr std::string_view kConvs = R"(graph main(x: f32[n,3,32,32], w: f32[16,3,3,3], b: f32[16], v: f32[8,16,1,1]) {
  h = Conv(x, w, b, pads=[1, 1, 1, 1])
  r = Relu(h)
  y = Conv(r, v)
  return y
})";

TEST(Plan, RunsActivationsOnTheTileOfAConvolution) { EXPECT_EQ(groups(kConvs), "contract: Conv Relu\ncontract: Conv\n"); }

/// Strides of the array between the two convolutions.
std::string strides_between(const Planned& p) {
  for (const Array& a : p.plan.arrays)
    if (a.value && p.graph->value(a.value).name == "r") return text_of(a.strides);
  return "";
}

TEST(Plan, PutsChannelsLastBetweenConvolutionsAndNowhereElse) {
  const Planned p = planned(kConvs);
  EXPECT_EQ(strides_between(p), "[16384, 1, 512, 16]");
  for (ArrayId a : {p.plan.inputs[0], p.plan.outputs[0]}) EXPECT_EQ(p.plan.arrays[a].strides, row_major(p.plan.arrays[a].shape));
  EXPECT_EQ(strides_between(planned(kConvs, {.fuse = true, .channels_last = false, .outer_symbols = {}})), "[16384, 1024, 32, 1]");
}

/// Patches of an image as tokens.
TEST(Plan, PutsChannelsLastWhereAReshapeJoinsThePixels) {
  const Planned p = planned(R"(graph main(x: f32[n,3,32,32], w: f32[16,3,8,8], s: f32[16], b: f32[16]) {
    const shape: i64[3] = [0, 16, -1]
    r = Conv(x, w, strides=[8, 8])
    t = Reshape(r, shape)
    u = Transpose(t, perm=[0, 2, 1])
    y = LayerNormalization(u, s, b)
    return y
  })");
  EXPECT_EQ(strides_between(p), "[256, 1, 64, 16]");
  EXPECT_EQ(p.text(), "contract: Conv\nnests: Transpose LayerNormalization\n");
}

TEST(Plan, KeepsPixelsInnermostWhereTheyAreReadAsRows) {
  EXPECT_EQ(strides_between(planned(R"(graph main(x: f32[n,3,32,32], w: f32[16,3,8,8]) {
    const shape: i64[3] = [0, 16, -1]
    r = Conv(x, w, strides=[8, 8])
    t = Reshape(r, shape)
    e = Exp(t)
    y = Concat(t, e, axis=2)
    return y
  })")),
            "[256, 16, 4, 1]");
}

/// Between two convolutions.
std::string pool_groups(std::string_view pool) {
  return groups("graph main(x: f32[1,8,20,20], w: f32[32,8,1,1], v: f32[8,32,1,1]) { a = Conv(x, w) p = " + std::string(pool) +
                " y = Conv(p, v) return y }");
}

TEST(Plan, PoolsLongWindowsAxisByAxis) {
  EXPECT_EQ(pool_groups("MaxPool(a, kernel_shape=[5,5], pads=[2,2,2,2])"),
            "contract: Conv\nnests: MaxPool\nnests: MaxPool\ncontract: Conv\n");
  EXPECT_EQ(pool_groups("MaxPool(a, kernel_shape=[3,3], pads=[1,1,1,1])"), "contract: Conv\nnests: MaxPool\ncontract: Conv\n");
}

TEST(Plan, ReducesAnAxisOnceWhereEveryWindowHoldsAllOfIt) {
  const Planned p = planned("graph main(x: f32[1,8,4,4]) { y = MaxPool(x, kernel_shape=[31,31], pads=[15,15,15,15]) return y }");
  ASSERT_EQ(p.text(), "nests: MaxPool\nnests: MaxPool\n");
  Dim points = 1;
  for (const ops::Axis& a : p.plan.groups[0].nests[0].axes) points = points * a.extent;
  EXPECT_EQ(points, Dim(8 * 4 * 4));
}

TEST(Plan, LeavesTheSumOfAFewElementsToItself) {
  constexpr std::string_view kBefore = "graph main(x: f32[64,196,1], y: f32[64,196,2]) { const axes: i64[1] = [2] ";
  EXPECT_EQ(groups(std::string(kBefore) + "c = Concat(x, y, axis=2) r = ReduceMax(c, axes, keepdims=0) return r }"),
            "nests: Concat\nnests: Concat\nnests: ReduceMax\n");
}

TEST(Plan, KeepsRowsOfPoolingsOverImagesFromOutside) {
  const Planned p = planned("graph main(x: f32[1,8,20,20]) { y = AveragePool(x, kernel_shape=[2,2], strides=[2,2]) return y }");
  EXPECT_EQ(p.text(), "nests: AveragePool\nnests: AveragePool\n");  // one kernel would walk the window along the lanes
  for (const Array& a : p.plan.arrays) EXPECT_TRUE(a.order.empty());
}

TEST(Plan, LimitsTokensAtTheInputs) {
  const Planned p = planned("graph main(ids: i64[n,s], table: f32[50,8]) { y = Gather(table, ids) return y }");
  ASSERT_EQ(p.plan.index_limits.size(), 1u);
  EXPECT_EQ(p.plan.index_limits[0].input, p.plan.inputs[0]);
  EXPECT_EQ(p.plan.index_limits[0].extent, Dim(50));
  EXPECT_TRUE(p.plan.index_limits[0].from_end);
}

TEST(Plan, IsTheSameForTheSameGraph) {
  EXPECT_EQ(text_of(planned(kConvs).plan), text_of(planned(kConvs).plan));
  EXPECT_EQ(text_of(planned(kLinear).plan), text_of(planned(kLinear).plan));
}

TEST(PlanPasses, AreListedByTargets) {
  std::set<std::string_view> known;
  for (const PlanPass& pass : plan_passes()) EXPECT_TRUE(known.insert(pass.name).second) << pass.name << " is there twice";
  std::set<std::string_view> wanted;
  for (const Target* target : all_targets())
    for (const std::string_view name : target->plan_passes) {
      EXPECT_TRUE(known.contains(name)) << target->name << " lists a pass that does not exist: " << name;
      wanted.insert(name);
    }
  EXPECT_EQ(wanted, known) << "a pass that no target lists never runs";
}

TEST(PlanPasses, RunOnlyForTargetsThatListThem) {
  const auto graph = ir::parse("graph main(x: f32[4,4]) { a = Relu(x) y = Sqrt(a) return y }", ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  Target few = **target_named("x86_avx512");
  constexpr std::string_view kNoFusion[] = {"find_contractions"};
  EXPECT_EQ(plan(**graph, few, {})->groups.size(), 1u);
  few.plan_passes = kNoFusion;
  EXPECT_EQ(plan(**graph, few, {})->groups.size(), 2u);
}

}  // namespace
}  // namespace tenon::codegen
