// SPDX-License-Identifier: Apache-2.0
// Neighbours over the same rows that become one parallel region, and those that must not: where a later part reads what another part of an
// earlier kernel writes, it reads NaN here, since the later parts run first.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// As many parts as can be, whatever the weights.
PlanOptions always() {
  PlanOptions options;
  options.verify = true;
  options.limits = (**target_named("x86_avx512")).plan_limits;
  options.limits->max_region_bytes = 64;
  options.limits->min_region_rows = 1;
  options.limits->min_task_work = 1;
  options.limits->max_region_traffic = 0;
  return options;
}

/// The kernels of each region, and its parts: "2 kernels in 8 parts"; what a build joins, and not only the plan. "wrong: ..." where the
/// results are not those of the reference.
std::string regions(const std::string& body, const PlanOptions& options = always()) {
  const auto graph = ir::parse(body, ops::table());
  if (!graph) return graph.error().text();
  std::vector<Tensor> inputs;
  for (ir::ValueId v : (*graph)->inputs()) {
    Sizes sizes;
    for (Dim d : *(*graph)->value(v).type.shape) sizes.push_back(substitute(d, [](const DimNode&) { return Dim(16); }).value());
    inputs.push_back(*ops::random_tensor((*graph)->value(v).type.dtype, sizes, inputs.size() + 1));
  }
  const auto want = ops::evaluate(**graph, inputs);
  const auto planned = planned_graph(**graph, options, **target_named("x86_avx2"));
  if (!want || !planned) return (want ? planned.error() : want.error()).text();
  std::string out;
  for (const RegionRun& r : regions_of(*planned, inputs))
    out += fmt::format("{}{} kernels in {} parts", out.empty() ? "" : ", ", r.kernels, r.parts);
  const auto got = run(*planned, inputs);
  if (!got) return got.error().text();
  for (size_t k = 0; k < want->size(); ++k)
    for (int64_t i = 0; i < (*want)[k].count(); ++i) {
      const double x = (*want)[k].number(i), y = (*got)[k].number(i);
      if (!(std::fabs(x - y) <= 1e-4 * std::max(1.0, std::fabs(x)))) return fmt::format("wrong: element {} is {} instead of {}", i, y, x);
    }
  return out;
}

const std::string kTwo = weights("w", {8, 8}) + weights("v", {8, 8});
const std::string kDepthwise = weights("d", {8, 1, 3, 3}) + weights("p", {16, 8, 1, 1});

TEST(JoinRegions, TakesProductsOverTheSameRows) {
  EXPECT_EQ(regions("graph main(x: f32[64,8]) { " + kTwo + "a = MatMul(x, w) b = Relu(a) c = MatMul(b, v) y = Add(c, a) return y }"),
            "3 kernels in 64 parts");
  EXPECT_EQ(regions("graph main(x: f32[4,16,8]) { " + kTwo + "a = MatMul(x, w) b = Softmax(a, axis=-1) y = MatMul(b, v) return y }"),
            "3 kernels in 64 parts");
}

TEST(JoinRegions, TakesImagesOfABatchOfUnknownSize) {
  EXPECT_EQ(regions("graph main(x: f32[n,8,8]) { " + kTwo + "a = MatMul(x, w) b = Relu(a) y = MatMul(b, v) return y }"),
            "2 kernels in 64 parts");
  EXPECT_EQ(regions("graph main(x: f32[n,8]) { " + kTwo + "a = MatMul(x, w) b = Relu(a) y = MatMul(b, v) return y }"), "")
      << "it may be one row";
}

TEST(JoinRegions, JoinsADepthwiseConvolutionWithTheOneByOneAfterIt) {
  const std::string image = "graph main(x: f32[1,16,16,8]) { " + kDepthwise + "t = Transpose(x, perm=[0,3,1,2]) ";
  EXPECT_EQ(regions(image + "a = Conv(t, d, group=8, pads=[1,1,1,1]) y = Conv(a, p) return y }"), "2 kernels in 16 parts");
}

TEST(JoinRegions, TakesTheStepsOfWinograd) {
  PlanOptions options = always();
  options.limits->ops_per_cached_byte = options.limits->ops_per_weight_byte = 0;
  EXPECT_EQ(regions("graph main(x: f32[1,8,32,32]) { " + weights("w", {8, 8, 3, 3}) + "y = Conv(x, w, pads=[1,1,1,1]) return y }", options),
            "4 kernels in 64 parts");
}

/// A window reads rows of the next part.
TEST(JoinRegions, LeavesAHalo) {
  const std::string image = "graph main(x: f32[1,16,16,8]) { " + kDepthwise + "t = Transpose(x, perm=[0,3,1,2]) ";
  EXPECT_EQ(regions(image + "a = Conv(t, p) b = Relu(a) y = MaxPool(b, kernel_shape=[3,3], pads=[1,1,1,1]) return y }"), "");
  EXPECT_EQ(regions(image + "a = Conv(t, d, group=8, pads=[1,1,1,1]) y = Conv(a, d, group=8, pads=[1,1,1,1]) return y }"), "");
}

TEST(JoinRegions, LeavesRowsThatAreOthersRows) {
  const auto after = [](const std::string& step) {
    return regions("graph main(x: f32[16,8], i: i64[16]) { " + kTwo + weights("s", {16, 8}) +
                   "const k: i64[1] = [0]\nconst up: i64[2] = [4,32]\n" + "a = MatMul(x, w) " + step + " return y }");
  };
  EXPECT_EQ(after("y = ReduceSum(a, k)"), "") << "a sum over the rows";
  EXPECT_EQ(after("t = Transpose(a, perm=[1,0]) y = MatMul(t, s)"), "") << "rows are summed";
  EXPECT_EQ(after("t = Reshape(a, up) y = Softmax(t, axis=1)"), "") << "a row of four";
  EXPECT_EQ(after("y = Gather(a, i, axis=0)"), "") << "any row";
  EXPECT_EQ(after("y = CumSum(a, k)"), "") << "rows before it";
}

TEST(JoinRegions, LeavesFewRowsAndManyWeights) {
  const auto chain = [&](int64_t rows, int64_t depth, int64_t bytes) {
    PlanOptions options;
    options.limits = (**target_named("x86_avx512")).plan_limits;
    options.limits->max_region_weights = bytes;
    return regions(fmt::format("graph main(x: f32[{},{}]) {{ ", rows, depth) + weights("w", {depth, depth}) +
                       "a = MatMul(x, w) b = Relu(a) y = MatMul(b, w) return y }",
                   options);
  };
  EXPECT_EQ(chain(256, 32, 8192), "2 kernels in 4 parts");
  EXPECT_EQ(chain(64, 32, 8192), "2 kernels in 4 parts");
  EXPECT_EQ(chain(48, 32, 8192), "") << "parts would be less than a tile";
  EXPECT_EQ(chain(256, 32, 8191), "") << "no cache holds the weights that each part reads";
}

}  // namespace
}  // namespace tenon::codegen
