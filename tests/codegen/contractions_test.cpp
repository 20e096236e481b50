// SPDX-License-Identifier: Apache-2.0
// Sums of products whose operands and epilogues are views of all kinds: every one is lowered, and gives what the reference says.
#include <gtest/gtest.h>

#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Runs the graph fused, fused without layouts, and unfused; "n" is 5 and "m" is 3. tiles: so many of its groups are contractions.
void runs(std::string_view text, double tolerance = 1e-4, int tiles = -1, const ChooseTactic& choose = usual_tactic) {
  const auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  std::vector<Tensor> inputs;
  for (ir::ValueId v : (*graph)->inputs()) {
    Sizes sizes;
    for (Dim d : *(*graph)->value(v).type.shape)
      sizes.push_back(substitute(d, [](const DimNode& s) { return Dim(s.name == "n" ? 5 : 3); }).value());
    inputs.push_back(*ops::random_tensor((*graph)->value(v).type.dtype, sizes, inputs.size() + 1));
  }
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  for (const auto& [fuse, layouts] : {std::pair(true, true), {true, false}, {false, false}}) {
    PlanOptions options;
    options.fuse = fuse;
    options.channels_last = layouts;
    options.verify = true;
    const auto planned = planned_graph(**graph, options, **target_named("x86_avx2"), choose);
    ASSERT_TRUE(planned) << planned.error().text();
    const auto is_contraction = [](const Group& g) { return g.kind() == GroupKind::contract; };
    if (tiles >= 0) EXPECT_EQ(std::ranges::count_if(planned->plan.groups, is_contraction), tiles) << text_of(planned->plan);
    const auto got = run(*planned, inputs);
    ASSERT_TRUE(got) << got.error().text();
    for (int64_t i = 0; i < (*want)[0].count(); ++i)
      ASSERT_NEAR((*want)[0].number(i), (*got)[0].number(i), tolerance * std::max(1.0, std::abs((*want)[0].number(i))))
          << "element " << i << "\n"
          << text_of(planned->plan);
  }
}

TEST(Contractions, OperandIsATableByDistance) {
  runs(R"(graph main(q: f32[n,8], table: f32[9,8], x: f32[m]) {
    const zero: i64[] = [0]
    const one: i64[] = [1]
    const low: i64[] = [-4]
    const high: i64[] = [4]
    const first: i64[1] = [0]
    const second: i64[1] = [1]
    qs = Shape(q, start=0, end=1)
    xs = Shape(x, start=0, end=1)
    queries = Squeeze(qs)
    keys = Squeeze(xs)
    i = Range(zero, queries, one)
    j = Range(zero, keys, one)
    row = Unsqueeze(i, second)
    column = Unsqueeze(j, first)
    d = Sub(row, column)
    near = Clip(d, low, high)
    place = Add(near, high)
    keys_by_place = Gather(table, place)
    y = Einsum(q, keys_by_place, equation="ic,ijc->ij")
    return y
  })");
}

/// The cast is part of the operand: weights are packed as f32 when the engine is built, the rows are stored once, before the tiles.
/// Rows of 4 KiB: those of h are stored further apart (see pad_rows), those of the input and the result are not.
TEST(Contractions, RowsOfOneCacheSetArePadded) {
  constexpr std::string_view kText =
      "graph main(x: f32[n,m,8], w: f32[8,1024], v: f32[1024,8]) { h = MatMul(x, w) r = Relu(h) y = MatMul(r, v) return y }";
  runs(kText, 1e-3, 2);
  const auto graph = ir::parse(kText, ops::table());
  const auto planned = plan(**graph, **target_named("x86_avx512"), {});
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_NE(text_of(*planned).find("f32[n, m, 1024] padded by 16"), std::string::npos) << text_of(*planned);
  PlanOptions without;
  without.off = {"pad_rows"};
  EXPECT_EQ(text_of(*plan(**graph, **target_named("x86_avx512"), without)).find("padded"), std::string::npos);
}

/// Gates of each channel multiply the panels of the product that alone reads the gated image.
TEST(Contractions, PanelsAreMultipliedByAScaleOfTheDepth) {
  constexpr std::string_view kText = R"(graph main(x: f32[n,3,@], g: f32[n,8,1,1], k: f32[8,3,1,1], w: f32[5,8,1,1], v: f32[4,5,1,1]) {
    h = Conv(x, k)
    gated = Mul(g, h)
    y = Conv(gated, w)
    z = Conv(y, v)
    return z, h
  })";
  const auto by_blocks = [](const Group& group, const Plan& plan, const Target& target) {
    Tactic tactic = usual_tactic(group, plan, target);
    if (auto* product = std::get_if<ContractTactic>(&tactic)) product->depth = 3;
    return tactic;
  };
  // Of images with less than a tile's rows too, a tile holds rows of one.
  for (const char* size : {"4,6", "16,m", "3,5"}) {
    std::string text(kText);
    text.replace(text.find('@'), 1, size);
    runs(text);
    runs(text, 1e-4, -1, by_blocks);
  }
  runs("graph main(x: f32[16,2,2,8], g: f32[16,1,1,8], w: f32[8,9]) { s = Mul(x, g) y = MatMul(s, w) return y }", 1e-4, 1);
  runs("graph main(x: f32[2,16,n,8], g: f32[2,16,1,8], w: f32[8,9]) { s = Mul(x, g) y = MatMul(s, w) return y }", 1e-4, 1);
  runs("graph main(x: f32[m,n,7], g: f32[m,1,7], w: f32[m,7,9]) { s = Mul(x, g) y = MatMul(s, w) return y }", 1e-4, 1);
}

TEST(Contractions, ScalesStayWithRowsWhereThatIsFaster) {
  const auto is_scaled = [](std::string_view text, const char* off = "") {
    const auto graph = ir::parse(text, ops::table());
    PlanOptions options;
    options.off = {off};
    return text_of(*plan(**graph, **target_named("x86_avx512"), options)).find("sum of mul(mul(") != std::string::npos;
  };
  constexpr const char* kScaled = "graph main(x: f32[n,7], g: f32[7], w: f32[7,9]) { s = Mul(x, g) y = MatMul(s, w) return y }";
  EXPECT_TRUE(is_scaled(kScaled));
  EXPECT_FALSE(is_scaled(kScaled, "absorb_scales"));
  // Few rows, a result that is seen, a factor of each row, and many lanes.
  EXPECT_FALSE(is_scaled("graph main(x: f32[9,7], g: f32[7], w: f32[7,9]) { s = Mul(x, g) y = MatMul(s, w) return y }"));
  EXPECT_FALSE(is_scaled("graph main(x: f32[n,7], g: f32[7], w: f32[7,9]) { s = Mul(x, g) y = MatMul(s, w) return y, s }"));
  EXPECT_FALSE(is_scaled("graph main(x: f32[n,7], g: f32[n,7], w: f32[7,9]) { s = Mul(x, g) y = MatMul(s, w) return y }"));
  EXPECT_FALSE(is_scaled("graph main(x: f32[n,7], g: f32[7], w: f32[7,4096]) { s = Mul(x, g) y = MatMul(s, w) return y }"));
}

/// Inputs and outputs keep their order: what lies between them and a convolution stands channels-last.
TEST(Contractions, InputImagesAreReadByPointwiseConvolutions) {
  constexpr std::string_view kText = R"(graph main(x: f32[n,16,9,m], w: f32[8,16,3,3]) {
    const k: f32[8,16,1,1] = [0.5]
    a = Conv(x, k)
    b = Conv(x, k, strides=[2, 2])
    c = Relu(a)
    return c, b, x
  })";
  std::string text(kText), kernel = "const k: f32[8,16,1,1] = [";
  for (int i = 0; i < 128; ++i) kernel += (i ? ", " : "") + std::to_string((i * 37 % 19) / 19.0);
  const size_t at = text.find("const k");
  text.replace(at, text.find(']', text.find('=', at)) + 1 - at, kernel + "]");
  runs(text, 1e-4, 2);
  const auto graph = ir::parse(text, ops::table());
  const auto planned = plan(**graph, **target_named("x86_avx512"), {});
  ASSERT_TRUE(planned) << planned.error().text();
  const std::string found = text_of(*planned);
  EXPECT_NE(found.find("t7: f32[n, 16, 9, m] in order 0231\n"), std::string::npos) << found;
  EXPECT_NE(found.find("t7[i0, i1, i2, i3] = x0"), std::string::npos) << found;
}

/// A row-major result does not walk images and pixels as one axis: its channels lie along the lanes.
TEST(Contractions, InputImagesAreReadAsPatches) {
  constexpr std::string_view kText = "graph main(x: f32[n,3,8,8], w: f32[20,3,4,4]) { y = Conv(x, w, strides=[4, 4]) return y }";
  runs(kText, 1e-4, 1);
  const auto graph = ir::parse(kText, ops::table());
  const auto planned = planned_graph(**graph, {}, **target_named("x86_avx2"));
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_TRUE(planned->kernels_by_group.back().back().tactic.starts_with("tile=")) << planned->kernels_by_group.back().back().tactic;
}

/// What convolutions read around an image stands around it in memory; who else reads it, and who makes it, keeps to the inside. Rows of a
/// window that lie in the padding are left out, of blocks of the depth too.
TEST(Contractions, ConvolutionsShareTheWidestHalo) {
  constexpr std::string_view kText = R"(graph main(x: f32[n,2,6,m], k: f32[4,2,1,1], w: f32[3,4,3,3], v: f32[3,4,5,5], u: f32[3,4,1,1]) {
    a = Conv(x, k)
    h = Relu(a)
    near = Conv(h, w, pads=[1, 1, 1, 1])
    far = Conv(h, v, pads=[4, 2, 4, 2], dilations=[2, 1])
    same = Conv(h, u)
    both = Add(near, far)
    y = Add(both, same)
    return y
  })";
  runs(kText, 1e-4, 4);
  runs(kText, 1e-4, 4, [](const Group& group, const Plan& plan, const Target& target) {
    Tactic tactic = usual_tactic(group, plan, target);
    if (auto* product = std::get_if<ContractTactic>(&tactic)) product->depth = 12;
    return tactic;
  });
  const auto graph = ir::parse(kText, ops::table());
  const auto planned = plan(**graph, **target_named("x86_avx512"), {});
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_NE(text_of(*planned).find("in order 0231 within 0.0.4.2 and 0.0.4.2"), std::string::npos) << text_of(*planned);
  EXPECT_EQ(text_of(*planned).find(" if "), std::string::npos) << text_of(*planned);
  PlanOptions without;
  without.off = {"add_halos"};
  EXPECT_EQ(text_of(*plan(**graph, **target_named("x86_avx512"), without)).find("within"), std::string::npos);
}

/// A tile takes several rows of a narrow image, and the rows of the window that any of them needs.
TEST(Contractions, TilesContainSeveralShortRows) {
  constexpr std::string_view kText = R"(graph main(x: f32[n,2,5,3], k: f32[4,2,1,1], w: f32[3,4,3,3], v: f32[3,4,5,5]) {
    h = Conv(x, k)
    near = Conv(h, w, pads=[1, 1, 1, 1])
    s = Sigmoid(near)
    far = Conv(h, v, pads=[4, 2, 4, 2], dilations=[2, 1])
    y = Add(s, far)
    return y
  })";
  runs(kText, 1e-4, 3);
  const auto by_blocks = [](const Group& group, const Plan& plan, const Target& target) {
    Tactic tactic = usual_tactic(group, plan, target);
    if (auto* product = std::get_if<ContractTactic>(&tactic)) product->depth = 12;
    return tactic;
  };
  runs(kText, 1e-4, 3, by_blocks);
  const auto graph = ir::parse(kText, ops::table());
  const auto planned = planned_graph(**graph, {}, **target_named("x86_avx2"));
  ASSERT_TRUE(planned) << planned.error().text();
  std::string kernels;
  for (const auto& of_group : planned->kernels_by_group)
    for (const Kernel& k : of_group) kernels += text_of(k.tile);
  EXPECT_NE(kernels.find("contract f32 6x(2x8)"), std::string::npos) << kernels;
  EXPECT_NE(kernels.find("lines of 3 by"), std::string::npos) << kernels;
}

/// A part of the image ends where the image goes on: its padding is not that around the image.
TEST(Contractions, SlicesOfImagesWithAHaloMatchReference) {
  runs(R"(graph main(x: f32[n,2,6,m], k: f32[4,2,1,1], w: f32[3,4,3,3]) {
    const from: i64[1] = [1]
    const to: i64[1] = [5]
    const axes: i64[1] = [2]
    a = Conv(x, k)
    whole = Conv(a, w, pads=[1, 1, 1, 1])
    part = Slice(a, from, to, axes)
    inner = Conv(part, w, pads=[1, 1, 1, 1])
    y = Concat(whole, inner, axis=2)
    return y
  })");
}

/// With the padding around its rows, the result is not walked as one by the axes that lay along the lanes.
TEST(Contractions, HalosChangeTheRolesOfTheirWriter) {
  runs(R"(graph main(x: f32[5,3], b: f32[3,4,6], w: f32[8,7]) {
    const pads: i64[6] = [0, 0, 1, 0, 0, 1]
    h = Einsum(x, b, equation="ab,bqk->aqk")
    p = Pad(h, pads)
    y = MatMul(p, w)
    return y
  })",
       1e-4, 2);
}

/// The last column of a window that moves in steps of two depends on how wide the image is.
TEST(Contractions, StridedConvolutionsReadAHalo) {
  runs(R"(graph main(x: f32[n,2,7,m], k: f32[4,2,1,1], w: f32[3,4,3,3]) {
    a = Conv(x, k)
    y = Conv(a, w, pads=[1, 1, 1, 1], strides=[2, 2])
    return y
  })");
}

TEST(Contractions, HalfFloatsMatchReference) {
  for (const char* type : {"f16", "bf16"}) {
    SCOPED_TRACE(type);
    const auto of = [&](std::string text) {
      for (size_t at = text.find("TYPE"); at != text.npos; at = text.find("TYPE")) text.replace(at, 4, type);
      return text;
    };
    runs(of("graph main(x: TYPE[n,7], w: TYPE[7,m]) { y = MatMul(x, w) return y }"), 0.02, 1);
    runs(of("graph main(x: TYPE[m,n,7], w: TYPE[m,7,5]) { y = MatMul(x, w) return y }"), 0.02, 1);
    runs(of("graph main(x: TYPE[n,6]) { const w: TYPE[6,2] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] y = MatMul(x, w) return y }"), 0.02,
         1);
    runs(of("graph main(a: TYPE[n,7], b: TYPE[m,7], c: TYPE[m]) { y = Gemm(a, b, c, transB=1, alpha=0.5) return y }"), 0.02, 1);
    runs(of("graph main(x: TYPE[n,2,6,6], w: TYPE[4,2,3,3]) { y = Conv(x, w, strides=[2, 1]) return y }"), 0.02, 1);
    runs(of("graph main(x: TYPE[n,2,6,6], w: TYPE[4,2,3,3]) { y = Conv(x, w, pads=[1, 1, 1, 1]) return y }"), 0.02, 1);
    // The image is stored as f32 with the padding around it.
    runs(of("graph main(x: TYPE[n,2,6,6], k: TYPE[4,2,1,1], w: TYPE[3,4,3,3]) { h = Conv(x, k) y = Conv(h, w, pads=[1,1,1,1]) return y }"),
         0.05, 2);
    runs(of("graph main(x: TYPE[n,1,4,4]) { const w: TYPE[2,1,1,1] = [2, -3] y = Conv(x, w, pads=[1, 1, 1, 1]) return y }"), 0.02);
    runs(of("graph main(x: TYPE[n,2,5,5]) { const w: TYPE[2,2,1,1] = [2, -3, 1, 4] y = Conv(x, w) return y }"), 0.02, 1);
    runs(of("graph main(x: TYPE[n,3], w: TYPE[3,m]) { r = Relu(x) y = MatMul(r, w) return y }"), 0.02, 1);
  }
}

TEST(Contractions, OperandIsATiling) {
  runs(R"(graph main(x: f32[n,4], w: f32[12,6]) {
    const times: i64[2] = [1, 3]
    t = Tile(x, times)
    y = MatMul(t, w)
    return y
  })");
}

TEST(Contractions, OperandIsAMirroredPad) {
  runs(R"(graph main(x: f32[n,4], w: f32[8,6]) {
    const pads: i64[4] = [0, 2, 0, 2]
    t = Pad(x, pads, mode="reflect")
    y = MatMul(t, w)
    return y
  })");
}

TEST(Contractions, OperandIsADepthToSpace) {
  runs(R"(graph main(x: f32[1,8,4,4], w: f32[3,2,3,3]) {
    t = DepthToSpace(x, blocksize=2)
    y = Conv(t, w, pads=[1, 1, 1, 1])
    return y
  })");
}

TEST(Contractions, OperandIsAPaddedSlice) {
  runs(R"(graph main(x: f32[1,2,8,8], w: f32[3,2,3,3]) {
    const from: i64[2] = [1, 2]
    const to: i64[2] = [7, 7]
    const axes: i64[2] = [2, 3]
    t = Slice(x, from, to, axes)
    y = Conv(t, w, pads=[1, 1, 1, 1])
    r = Relu(y)
    return r
  })");
}

TEST(Contractions, OperandIsAReshapedSequence) {
  runs(R"(graph main(x: f32[1,2,36], w: f32[3,2,3,3]) {
    const shape: i64[4] = [1, 2, 6, 6]
    t = Reshape(x, shape)
    y = Conv(t, w, pads=[1, 1, 1, 1])
    return y
  })");
}

TEST(Contractions, RowsOperandIsAPaddedBatch) {
  runs(R"(graph main(x: f32[1,3,4], w: f32[5,4,6]) {
    const sizes: i64[3] = [3, 1, 1]
    const pads: i64[6] = [1, 0, 0, 1, 0, 0]
    e = Expand(x, sizes)
    t = Pad(e, pads)
    y = MatMul(t, w)
    return y
  })");
}

TEST(Contractions, LanesOperandIsAPaddedBatch) {
  runs(R"(graph main(x: f32[5,3,4], w: f32[1,4,6]) {
    const sizes: i64[3] = [3, 1, 1]
    const pads: i64[6] = [1, 0, 0, 1, 0, 0]
    e = Expand(w, sizes)
    t = Pad(e, pads)
    y = MatMul(x, t)
    return y
  })");
}

TEST(Contractions, EpilogueReadsATiling) {
  runs(R"(graph main(x: f32[n,4], w: f32[4,6], b: f32[n,3]) {
    const times: i64[2] = [1, 2]
    h = MatMul(x, w)
    t = Tile(b, times)
    y = Add(h, t)
    return y
  })");
}

TEST(Contractions, OperandIsAnEnlargedImage) {
  runs(R"(graph main(x: f32[1,2,3,3], w: f32[3,2,3,3]) {
    const scales: f32[4] = [1, 1, 2, 2]
    t = Resize(x, _, scales, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    y = Conv(t, w, pads=[1, 1, 1, 1])
    return y
  })");
}

}  // namespace
}  // namespace tenon::codegen
