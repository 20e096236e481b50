// SPDX-License-Identifier: Apache-2.0
// Winograd's convolutions of images with outliers, infinities and NaN.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <unordered_map>

#include "../../segments.h"
#include "codegen/analysis/nest_properties.h"
#include "codegen/passes/pipeline.h"
#include "codegen/plan/plan_options.h"
#include "codegen/winograd/minimal_filter.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"
#include "winograd_graphs.h"

namespace tenon::codegen {
namespace {

/// "n" is 2, "h" is 9, "w" is 6.
/// A convolution of 16 channels, and its image: normal numbers, of which one is `outlier`.
constexpr int64_t kImageSize = 16;

struct OutlierCase {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Tensor> inputs;
  int64_t row = 0, column = 0;

  bool reaches(int64_t element) const {
    return std::abs(element / kImageSize % kImageSize - row) <= 1 && std::abs(element % kImageSize - column) <= 1;
  }
};

OutlierCase outlier_case(double outlier, int64_t row, int64_t column, std::string_view shape = "1,16,16,16") {
  OutlierCase out;
  auto graph = ir::parse(convolution(shape, ", pads=[1,1,1,1]", {16, 16, 3, 3}), ops::table());
  EXPECT_TRUE(graph) << graph.error().text();
  out.graph = std::move(*graph);
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  Tensor x = *Tensor::make(DType::f32, {1, 16, kImageSize, kImageSize});
  for (float& e : x.as_mutable<float>()) e = normal(random);
  x.set_number((2 * kImageSize + row) * kImageSize + column, outlier);
  out.inputs.push_back(std::move(x));
  out.row = row, out.column = column;
  return out;
}

Tensor convolved(const OutlierCase& c, bool tiles, bool native, int outputs = 4) {
  PlanOptions options = winograd_always();
  if (!tiles) options.off.insert("winograd");
  if (outputs == 2) options.limits->ops_per_cached_byte = 1000;  // fewer bytes count more than fewer products
  const Target& target = native ? **target_for() : **target_named("x86_avx2");
  const auto planned = planned_graph(*c.graph, options, target);
  EXPECT_TRUE(planned) << planned.error().text();
  EXPECT_EQ(transformed(planned->plan), tiles ? 3U : 0U);
  const auto got = run(*planned, c.inputs, native);
  EXPECT_TRUE(got) << got.error().text();
  return (*got)[0];
}

/// The largest error where the outlier is in the window, and elsewhere; of results that are numbers.
std::array<double, 2> largest_errors(const OutlierCase& c, const Tensor& got, const Tensor& want) {
  std::array<double, 2> out{};
  for (int64_t i = 0; i < got.count(); ++i)
    if (std::isfinite(want.number(i)) && std::isfinite(got.number(i)))
      out[c.reaches(i)] = std::max(out[c.reaches(i)], std::abs(got.number(i) - want.number(i)));
  return out;
}

/// inf, -inf, NaN or a number.
int kind_of(double x) { return std::isnan(x) ? 3 : std::isinf(x) ? (x > 0 ? 1 : 2) : 0; }

TEST(Winograd, OutliersCauseNoLargerErrorsThanThePlainSum) {
  for (const double outlier : {1e2, -1e4, 1e6, 1e9, -1e20, 3e38, double(INFINITY), double(-INFINITY), double(NAN)})
    for (const auto& [row, column] : {std::pair(5, 5), std::pair(8, 7), std::pair(0, 15)})
      for (const bool native : {false, true}) {
        const OutlierCase c = outlier_case(outlier, row, column);
        ops::EvaluateOptions wide;
        wide.mode = ops::Mode::wide;
        const Tensor want = (*ops::evaluate(*c.graph, c.inputs, wide))[0];
        const Tensor plain = convolved(c, false, native), tiles = convolved(c, true, native);
        const auto of_plain = largest_errors(c, plain, want), of_tiles = largest_errors(c, tiles, want);
        for (const bool reached : {false, true})
          EXPECT_LE(of_tiles[reached], 4 * of_plain[reached]) << outlier << " at " << row << ", " << column << ", reached: " << reached;
        for (int64_t i = 0; i < tiles.count(); ++i) {
          ASSERT_EQ(kind_of(tiles.number(i)), kind_of(plain.number(i))) << outlier << ", element " << i;
          if (!c.reaches(i)) ASSERT_TRUE(std::isfinite(tiles.number(i))) << outlier << ", element " << i;
        }
      }
}

TEST(Winograd, OutliersDoNotChangeOtherTiles) {
  const OutlierCase usual = outlier_case(0.5, 5, 5), odd = outlier_case(1e6, 5, 5);
  for (const bool native : {false, true}) {
    const Tensor a = convolved(usual, true, native), b = convolved(odd, true, native);
    for (int64_t i = 0; i < a.count(); ++i) {
      const int64_t row = i / kImageSize % kImageSize, column = i % kImageSize;
      if (row < 4 || row >= 8 || column < 4 || column >= 8) EXPECT_EQ(a.number(i), b.number(i)) << i;
    }
  }
}

/// A dark half, in which nothing is far from the bound of the plain sum, beside a bright one.
TEST(Winograd, EdgesOfBrightRegionsUsePlainSums) {
  OutlierCase c = outlier_case(0, 0, 0);
  for (int64_t i = 0; i < c.inputs[0].count(); ++i)
    if (i % kImageSize < 7) c.inputs[0].set_number(i, c.inputs[0].number(i) * 1e-3);
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  const Tensor want = (*ops::evaluate(*c.graph, c.inputs, wide))[0];
  const Tensor plain = convolved(c, false, false), tiles = convolved(c, true, false);
  double errors[2] = {};
  for (int64_t i = 0; i < want.count(); ++i) {
    if (i % kImageSize >= 6) continue;
    errors[0] = std::max(errors[0], std::abs(plain.number(i) - want.number(i)));
    errors[1] = std::max(errors[1], std::abs(tiles.number(i) - want.number(i)));
  }
  EXPECT_LE(errors[1], 4 * errors[0]);
}

/// Of what planning makes: how many tiles of the image are marked.
int64_t marked(const OutlierCase& c) {
  const auto planned = planned_graph(*c.graph, winograd_always(), **target_named("x86_avx2"));
  PlannedGraph marks = *planned;
  std::erase_if(marks.plan.outputs, [](ArrayId) { return true; });
  for (const Group& g : planned->plan.groups)
    if (g.kind() == GroupKind::nests && g.nests[0].condition >= 0)
      marks.plan.outputs.push_back(g.nests[0].accesses[static_cast<size_t>(g.nests[0].condition)].array);
  const auto got = run(marks, c.inputs);
  EXPECT_TRUE(got) << got.error().text();
  int64_t count = 0;
  for (int64_t i = 0; i < (*got)[0].count(); ++i) count += (*got)[0].integer(i);
  return count;
}

TEST(Winograd, OnlyTilesThatReadAnOutlierAreMarked) {
  EXPECT_EQ(marked(outlier_case(0.5, 5, 5)), 0) << "numbers of one size, beside zeros around the image";
  EXPECT_EQ(marked(outlier_case(1e3, 5, 5)), 1);
  EXPECT_EQ(marked(outlier_case(1e3, 8, 5)), 2) << "elements 3 and 8 of a row are in two tiles";
  EXPECT_EQ(marked(outlier_case(1e3, 8, 7)), 4);
  EXPECT_EQ(marked(outlier_case(NAN, 0, 0)), 1);
  OutlierCase zeros = outlier_case(0, 5, 5);
  for (float& e : zeros.inputs[0].as_mutable<float>()) e = 0;
  EXPECT_EQ(marked(zeros), 0);
}

TEST(Winograd, OutliersInSmallTilesAndDynamicSizesMatchReference) {
  for (const std::string_view shape : {"1,16,16,16", "n,16,a,b"}) {
    OutlierCase c = outlier_case(1e9, 8, 7, shape);
    const Tensor want = (*ops::evaluate(*c.graph, c.inputs))[0], tiles = convolved(c, true, false);
    for (int64_t i = 0; i < want.count(); ++i)
      if (!c.reaches(i)) ASSERT_NEAR(tiles.number(i), want.number(i), 1e-4) << i;
  }
}

}  // namespace
}  // namespace tenon::codegen
