// SPDX-License-Identifier: Apache-2.0
// Predictions of times: what must hold of them on any machine. No test measures a time.
#include "codegen/cost/predict.h"
#include "codegen/passes/pipeline.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "codegen/lower/kernel.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

const Target& target() { return **target_named("x86_avx512"); }

Work product_of(int64_t rows, int64_t depth, int64_t lanes, Tile tile = {14, 2}) {
  return {.products = {{.rows = rows, .lanes = lanes, .depth = depth, .tile = tile, .instruction = &target().of_f32()}}, .loops = {}};
}
Work loop_of(int64_t points, double operations, double transcendentals = 0) {
  return {.products = {},
          .loops = {{.points = points, .lane_extent = points, .operations = operations, .transcendentals = transcendentals, .loads = 2}}};
}
Prediction predicted(const Work& work, const KernelCall& call = {}, int threads = 1) {
  return predict(work, call, target(), default_machine(target(), threads));
}

TEST(Predict, MoreWorkIsNeverFaster) {
  double before = 0;
  for (const int64_t rows : {1, 2, 3, 7, 13, 14, 15, 28, 29, 66, 127, 128, 129, 1000}) {
    const double ns = predicted(product_of(rows, 768, 768)).ns;
    EXPECT_GE(ns, before) << rows;
    before = ns;
  }
  EXPECT_GT(predicted(product_of(128, 769, 768)).ns, predicted(product_of(128, 768, 768)).ns);
  EXPECT_GT(predicted(product_of(128, 768, 769)).ns, predicted(product_of(128, 768, 768)).ns);
  EXPECT_GT(predicted(loop_of(1 << 20, 3)).ns, predicted(loop_of(1 << 20, 2)).ns);
  EXPECT_GT(predicted(loop_of(1 << 20, 2, 1)).ns, predicted(loop_of(1 << 20, 3)).ns) << "a function is more than an operation";
}

TEST(Predict, BytesFromFurtherAwayTakeLonger) {
  const Work copy = loop_of(1 << 20, 0);
  const double l2 = predicted(copy, {.l2_bytes = 1 << 23}).ns, l3 = predicted(copy, {.l3_bytes = 1 << 23}).ns;
  EXPECT_LT(l2, l3);
  EXPECT_LT(l3, predicted(copy, {.memory_bytes = 1 << 23}).ns);
  EXPECT_LT(predicted(copy, {.memory_bytes = 1 << 23}).ns, predicted(copy, {.memory_bytes = 1 << 24}).ns);
}

TEST(Predict, BytesOfAnotherCoreTakeLongerThanOwn) {
  const Work copy = loop_of(1 << 20, 0);
  const auto ns = [&](const KernelCall& call) { return predicted(copy, call, 2).ns; };
  EXPECT_LT(ns({.tasks = 8, .l2_bytes = 1 << 23}), ns({.tasks = 8, .shared_read_bytes = 1 << 23}));
  EXPECT_LT(ns({.tasks = 8, .l2_bytes = 1 << 23}), ns({.tasks = 8, .shared_written_bytes = 1 << 23}));
  EXPECT_LT(ns({.tasks = 8, .shared_read_bytes = 1 << 23}), ns({.tasks = 1, .shared_read_bytes = 1 << 23})) << "one thread reads them all";
}

TEST(Predict, ReadsOfALoopWithManyAccessesDoNotOverlap) {
  Work few = loop_of(1 << 16, 100), many = few;
  many.loops[0].loads = 40;
  many.loops[0].operations = few.loops[0].operations + few.loops[0].loads - 40;
  const KernelCall call{.l2_bytes = 1 << 22};
  EXPECT_GT(predicted(many, call).ns, predicted(few, call).ns) << "as much to compute, but nothing is asked for ahead";
}

TEST(Predict, LatencyOfASumTakesTime) {
  Work waiting = loop_of(1 << 20, 1);
  waiting.loops[0].sum_latency = 8;
  EXPECT_GT(predicted(waiting).ns, predicted(loop_of(1 << 20, 1)).ns);
}

TEST(Predict, ThreadsHelpUpToTheNumberOfTasks) {
  const Work large = product_of(1024, 1024, 1024);
  const double alone = predicted(large, {.tasks = 64}, 1).ns, four = predicted(large, {.tasks = 64}, 4).ns;
  EXPECT_LT(four, alone / 3);
  EXPECT_EQ(predicted(large, {.tasks = 64, .grain = 64}, 4).ns, alone) << "one chunk of tasks runs on one thread";
  EXPECT_GT(predicted(large, {.tasks = 5}, 4).ns, predicted(large, {.tasks = 8}, 4).ns) << "one thread has two of five tasks";
}

TEST(Predict, NamesTheLimit) {
  EXPECT_EQ(predicted(product_of(1024, 1024, 1024)).limit, Limit::peak);
  EXPECT_EQ(predicted(product_of(1, 768, 32)).limit, Limit::latency) << "sums of one row wait for each other";
  EXPECT_EQ(predicted(product_of(1, 1024, 1024), {.memory_bytes = 1 << 22}).limit, Limit::memory) << "weights read for one row";
  EXPECT_EQ(predicted(loop_of(1 << 20, 0), {.memory_bytes = 1 << 23}).limit, Limit::memory);
  EXPECT_EQ(predicted(loop_of(1 << 20, 0), {.l3_bytes = 1 << 23}).limit, Limit::l3);
  EXPECT_EQ(predicted(loop_of(16, 1), {.l2_bytes = 128}).limit, Limit::start);
  EXPECT_EQ(name_of(Limit::l3), "third-level cache");
}

TEST(Predict, TheLimitAloneTakesNoLongerThanAll) {
  for (const Work& work : {product_of(1, 768, 768), product_of(129, 64, 33), loop_of(100, 5, 2), loop_of(0, 1)})
    for (const KernelCall& call : {KernelCall{}, KernelCall{.tasks = 7, .l3_bytes = 1e6, .memory_bytes = 1e5}}) {
      const Prediction p = predicted(work, call, 3);
      EXPECT_LE(p.limit_ns, p.ns);
      EXPECT_GT(p.ns, 0);
    }
}

TEST(Predict, ReasonShowsHowRowsDivideIntoTiles) {
  EXPECT_EQ(tiling_text(product_of(128, 768, 768), target()), "tile 14x2: 128 rows are 10 of 13 or 12, 768 lanes 24 of 32, depth 768");
  EXPECT_EQ(tiling_text(product_of(28, 64, 24), target()), "tile 14x2: 28 rows are 2 of 14, 24 lanes 1 of 32 (8 in vain), depth 64");
}

/// What lowering says of the kernels of a graph, with n of 128.
std::vector<Work> works_of(std::string_view text, int64_t n = 128) {
  auto parsed = ir::parse(text, ops::table());
  EXPECT_TRUE(parsed) << parsed.error().text();
  auto planned = plan(**parsed, **target_named("x86_avx512"), {});
  EXPECT_TRUE(planned);
  std::vector<Work> out;
  for (const Group& g : planned->groups)
    for (const Kernel& k : *prepared_kernels(g, default_tactic(g, target()), *planned, target()))
      out.push_back(*with_sizes(k.work, [&](const DimNode&) { return Dim(n); }));
  return out;
}

TEST(Work, ProductHasItsSizesAndItsEpilogue) {
  const auto works =
      works_of("graph main(x: f32[n,64], w: f32[64,96], b: f32[96]) { h = MatMul(x, w) s = Add(h, b) y = Relu(s) return y }");
  const Work& work = works.back();  // the first packs what is no constant
  ASSERT_EQ(work.products.size(), 1u);
  EXPECT_EQ(work.products[0].rows, Dim(128));
  EXPECT_EQ(work.products[0].lanes, Dim(96));
  EXPECT_EQ(work.products[0].depth, Dim(64));
  ASSERT_EQ(work.loops.size(), 1u);
  EXPECT_EQ(work.loops[0].points, Dim(128 * 96));
}

/// The first of the deepest products of a graph, with n of 1.
ProductWork deepest(std::string_view text) {
  ProductWork out;
  for (const Work& w : works_of(text, 1))
    if (!w.products.empty() && w.products[0].depth.value() > out.depth.value()) out = w.products[0];
  return out;
}

/// Of a convolution by 3x3 kernels with a padding, between two of single pixels.
ProductWork of_padded_image(int64_t pixels) {
  return deepest(fmt::format(R"(graph main(x: f32[n,4,{0},{0}], k: f32[16,4,1,1], w: f32[32,16,3,3], l: f32[4,32,1,1]) {{
    a = Conv(x, k)
    b = Conv(a, w, pads=[1, 1, 1, 1])
    y = Conv(b, l)
    return y
  }})",
                             pixels));
}

TEST(Work, SkipsProductsInThePadding) {
  const ProductWork work = of_padded_image(14);
  EXPECT_EQ(work.depth, Dim(144));
  EXPECT_EQ(work.skipped_products, Dim(2 * 14 * 3 * 16)) << "one row of three of the window, for the first row of pixels and for the last";
}

TEST(Work, TilesOfANarrowImageContainSeveralRows) {
  const ProductWork work = of_padded_image(7);
  EXPECT_EQ(tiling_text({.products = {work}, .loops = {}}, target()), "tile 14x2: 49 rows are 4 of 14 or 7, 32 lanes 1 of 32, depth 144");
}

/// Each of four parts of the rows has three tiles, where nine of 24 rows would do for an image.
TEST(Work, PartsOfTheRowsHaveEquallyManyTiles) {
  const ProductWork work = deepest("graph main(x: f32[n,196,480], w: f32[480,80]) { y = MatMul(x, w) return y }");
  EXPECT_EQ(work.rows, Dim(196));
  EXPECT_EQ(work.tile.rows, 17);
}

TEST(Work, LoopHasItsPoints) {
  const auto works = works_of("graph main(x: f32[n,64]) { h = Exp(x) y = Add(h, x) return y }");
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].loops[0].points, Dim(128 * 64));
  EXPECT_EQ(works[0].loops[0].exponentials, 1);
  EXPECT_EQ(works[0].loops[0].gathers, 0);
}

TEST(Work, EpilogueOfASingleRowIsCounted) {
  const auto works = works_of("graph main(x: f32[1,64], w: f32[64,96]) { h = MatMul(x, w) y = Sigmoid(h) return y }");
  ASSERT_EQ(works.back().loops.size(), 1u);
  EXPECT_EQ(works.back().loops[0].exponentials, 1);
}

/// The first loop of the last kernel of a graph.
LoopWork last_loop(std::string_view text) { return works_of(text).back().loops.at(0); }

TEST(Work, LongRowsHavePartialSums) {
  const LoopWork brief = last_loop("graph main(x: f32[n,32]) { const a: i64[1] = [1] y = ReduceSum(x, a, keepdims=0) return y }");
  const LoopWork row = last_loop("graph main(x: f32[n,512]) { const a: i64[1] = [1] y = ReduceSum(x, a, keepdims=0) return y }");
  EXPECT_LT(row.sum_latency, brief.sum_latency);
  EXPECT_EQ(row.lane_reductions, Dim(128)) << "the lanes of each row are put together";
}

/// Loads of a product of a depthwise convolution of images whose channels stand side by side.
double loads_of_window(int kernel) {
  const LoopWork* most = nullptr;
  const auto works = works_of(fmt::format(R"(graph main(x: f32[n,30,30,64]) {{
    const w: f32[64,1,{0},{0}] = [{1}]
    t = Transpose(x, perm=[0,3,1,2])
    c = Conv(t, w, group=64)
    y = Transpose(c, perm=[0,2,3,1])
    return y
  }})",
                                          kernel, fmt::join(std::vector<int>(static_cast<size_t>(64 * kernel * kernel), 1), ", ")),
                              1);
  for (const Work& work : works)
    for (const LoopWork& l : work.loops)
      if (work.products.empty() && (!most || most->points.value() < l.points.value())) most = &l;
  return most ? most->loads : 0;
}

TEST(Work, WideWindowsLoadLessForEachProduct) {
  EXPECT_GT(loads_of_window(7), 0);
  EXPECT_LT(loads_of_window(7), loads_of_window(3));
  EXPECT_LT(loads_of_window(3), 1) << "each of the data serves several products";
}

/// How the last kernel's tasks access its first and its last argument, with n of 128.
std::pair<AccessPattern, AccessPattern> first_and_last_pattern(std::string_view text) {
  const auto works = works_of(text);
  return {works.back().access_patterns.at(0), works.back().access_patterns.back()};
}

TEST(AccessPattern, TasksOfAMapHavePartsOfTheirOwn) {
  const auto [read, written] = first_and_last_pattern("graph main(x: f32[n,4096]) { y = Relu(x) return y }");
  EXPECT_FALSE(read.written);
  EXPECT_TRUE(written.written);
  EXPECT_GE(read.parts.value(), 128);
  EXPECT_GE(written.parts.value(), 128);
}

TEST(AccessPattern, TranspositionIsInOrderOnOneSideOnly) {
  const auto [read, written] = first_and_last_pattern("graph main(x: f32[256,n]) { y = Transpose(x, perm=[1,0]) return y }");
  EXPECT_NE(read.parts == Dim(1), written.parts == Dim(1)) << "one side alone is walked in order";
}

TEST(AccessPattern, GatherAccessesAtMostOneElementAPoint) {
  const auto [table, written] = first_and_last_pattern("graph main(x: f32[30000,64], k: i64[n]) { y = Gather(x, k, axis=0) return y }");
  EXPECT_LE(table.elements.value(), 2 * 128 * 64);
}

TEST(AccessPattern, TasksOverPanelsReadAllRows) {
  const auto works = works_of("graph main(x: f32[8,64], w: f32[64,4096]) { y = MatMul(x, w) return y }");
  EXPECT_TRUE(std::ranges::any_of(works.back().access_patterns, [](const AccessPattern& w) { return w.whole && !w.written; }));
}

TEST(Work, WithSizesNeedsAllSizes) {
  Work work = product_of(1, 2, 3);
  Symbols symbols;
  work.products[0].rows = symbols.symbol("n");
  EXPECT_FALSE(with_sizes(work, [](const DimNode& n) { return Dim::of(&n); }));
}

}  // namespace
}  // namespace tenon::codegen
