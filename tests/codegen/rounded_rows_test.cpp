// SPDX-License-Identifier: Apache-2.0
// Products of matrices in blocks whose rows are rounded to bf16 or to bytes. run() is the tile interpreter: no machine code runs here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../random_blocks.h"
#include "base/blocks/panel_words.h"
#include "base/scalar.h"
#include "codegen/plan/text.h"
#include "codegen/text/parse_plan.h"
#include "ir/builder.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

constexpr const char* kFormats[] = {"Q4_0", "Q4_1", "Q5_0", "Q5_1",   "Q8_0",   "Q2_K", "Q3_K",
                                    "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"};
constexpr int64_t kLanes = 70;

class RoundedRowsOf : public testing::TestWithParam<const char*> {
 protected:
  const BlockFormat& format_ = *block_format_named(GetParam());
  const int64_t depth_ = std::max<int64_t>(96, int64_t{2} * format_.elements);
  const ir::ConstantRef weights_ = tests::random_blocks(format_, kLanes, depth_, 3);
  const Tensor decoded_ = *ir::materialise(*weights_);

  PlannedGraph planned(Activations activations, ir::Graph& graph) const {
    ir::Builder build(graph);
    const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {graph.symbols().symbol("n"), depth_}));
    graph.add_output(build("MatMul", {x, build.constant(ir::permute(weights_, {1, 0}))}), "y");
    auto out = planned_graph(graph, {.activations = activations, .verify = true}, **target_named("x86_avx512_bf16"));
    EXPECT_TRUE(out) << out.error().text();
    return *std::move(out);
  }

  std::vector<float> results(const PlannedGraph& planned, const Tensor& rows) const {
    const auto got = run(planned, std::vector{rows});
    EXPECT_TRUE(got) << got.error().text();
    const auto numbers = (*got)[0].as<float>();
    return {numbers.begin(), numbers.end()};
  }

  float weight(int64_t lane, int64_t k) const { return decoded_.as<float>()[static_cast<size_t>(lane * depth_ + k)]; }
};

Tensor rows_of(int64_t count, int64_t depth, uint64_t seed) { return *ops::random_tensor(DType::f32, {count, depth}, seed, -2, 2); }

Tensor first_row(const Tensor& rows, int64_t row, int64_t depth) {
  return Tensor::of_f32({1, depth}, rows.as<float>().subspan(static_cast<size_t>(row * depth), static_cast<size_t>(depth)));
}

TEST_P(RoundedRowsOf, PairsOfBf16AreAddedInOrder) {
  ir::Graph graph(ops::table());
  const PlannedGraph plan = planned(Activations::bf16, graph);
  for (const int64_t n : {1, 4, 5, 30}) {
    const Tensor rows = rows_of(n, depth_, 5);
    std::vector<float> want;
    const auto bf16 = [](float x) { return static_cast<float>(round_to(DType::bf16, x)); };
    for (int64_t r = 0; r < n; ++r)
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        float sum = 0;
        for (int64_t k = 0; k < depth_; k += 2)
          for (const int64_t j : {k + 1, k})
            sum = std::fma(bf16(rows.as<float>()[static_cast<size_t>(r * depth_ + j)]), bf16(weight(lane, j)), sum);
        want.push_back(sum);
      }
    EXPECT_EQ(results(plan, rows), want) << n << " rows";
  }
}

/// Codes of a run of a row, times their scale.
std::vector<double> through_bytes(std::span<const float> row, int run) {
  std::vector<double> out;
  for (size_t first = 0; first < row.size(); first += static_cast<size_t>(run)) {
    float largest = 0;
    for (int k = 0; k < run; ++k) largest = std::max(largest, std::abs(row[first + static_cast<size_t>(k)]));
    const float factor = largest < 1e-30F ? 0 : 127 / largest, scale = largest * static_cast<float>(1 / 127.0);
    for (int k = 0; k < run; ++k) out.push_back(std::nearbyint(row[first + static_cast<size_t>(k)] * factor) * static_cast<double>(scale));
  }
  return out;
}

TEST_P(RoundedRowsOf, BytesAreMultipliedWithCodes) {
  ir::Graph graph(ops::table());
  const PlannedGraph plan = planned(Activations::i8, graph);
  for (const int64_t n : {1, 2, 7, 30}) {
    const Tensor rows = rows_of(n, depth_, static_cast<uint64_t>(n));
    const std::vector<float> got = results(plan, rows);
    for (int64_t r = 0; r < n; ++r) {
      const std::vector<double> row = through_bytes(first_row(rows, r, depth_).as<float>(), rounded_run(format_));
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        double want = 0, size = 0;
        for (int64_t k = 0; k < depth_; ++k) {
          want += row[static_cast<size_t>(k)] * weight(lane, k);
          size += std::abs(row[static_cast<size_t>(k)]) * std::max(1.0, 128.0 * std::abs(weight(lane, k)) / 127);
        }
        EXPECT_NEAR(got[static_cast<size_t>(r * kLanes + lane)], want, 2e-5 * size) << "row " << r << ", lane " << lane;
      }
    }
  }
}

TEST_P(RoundedRowsOf, ARowHasTheSameBitsInAnyNumberOfRows) {
  for (const Activations activations : {Activations::bf16, Activations::i8}) {
    ir::Graph graph(ops::table());
    const PlannedGraph plan = planned(activations, graph);
    const Tensor rows = rows_of(30, depth_, 9);
    const std::vector<float> all = results(plan, rows);
    for (const int64_t r : {0, 6, 29}) {
      const std::vector<float> alone = results(plan, first_row(rows, r, depth_));
      EXPECT_TRUE(std::ranges::equal(alone, std::span(all).subspan(static_cast<size_t>(r * kLanes), kLanes)))
          << name_of(activations) << ", row " << r;
    }
  }
}

TEST_P(RoundedRowsOf, BytesNeedNoFloatsOfTheMatrix) {
  ir::Graph graph(ops::table());
  const PlannedGraph plan = planned(Activations::i8, graph);
  const Kernel& product = plan.kernels_by_group.back().back();
  EXPECT_LE(product.tile.scratch_bytes(), 6 * 64 * 4) << "the sums of a tile alone";
  EXPECT_NE(text_of(product.tile).find(" = dot "), std::string::npos);
}

/// Rows that no place walks as one: a tile takes several short lines of them.
TEST_P(RoundedRowsOf, RowsInShortLinesHaveTheBitsOfOthers) {
  for (const Activations activations : {Activations::bf16, Activations::i8}) {
    ir::Graph graph(ops::table()), lines(ops::table());
    const PlannedGraph plan = planned(activations, graph);
    ir::Builder build(lines);
    const ir::ValueId x = lines.add_input("x", ir::Type(DType::f32, {2, lines.symbols().symbol("n"), depth_}));
    const ir::ValueId turned = build("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
    lines.add_output(build("MatMul", {turned, build.constant(ir::permute(weights_, {1, 0}))}), "y");
    const auto in_lines = planned_graph(lines, {.activations = activations, .verify = true}, **target_named("x86_avx512_bf16"));
    ASSERT_TRUE(in_lines) << in_lines.error().text();
    for (const int64_t n : {1, 2, 7}) {
      const Tensor rows = *ops::random_tensor(DType::f32, {2, n, depth_}, 11, -2, 2);
      const std::vector<float> want = results(plan, rows.reshaped({2 * n, depth_})), got = results(*in_lines, rows);
      ASSERT_EQ(got.size(), want.size());
      for (int64_t r = 0; r < n; ++r)
        for (int64_t side = 0; side < 2; ++side)
          EXPECT_TRUE(std::equal(got.begin() + (2 * r + side) * kLanes, got.begin() + (2 * r + side + 1) * kLanes,
                                 want.begin() + (side * n + r) * kLanes))
              << name_of(activations) << ", " << n << " lines, row " << r << " of side " << side;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundedRowsOf, testing::ValuesIn(kFormats));

/// f32[2, 64] with numbers at some places, through a product of bytes with a matrix of ones.
std::vector<float> sums_of(const std::vector<std::pair<size_t, float>>& numbers) {
  ir::Graph graph(ops::table());
  ir::Builder build(graph);
  std::vector<float> ones(16 * 64, 1), row(2 * 64, 0);
  for (const auto& [place, number] : numbers) row[place] = number;
  const BlockFormat& format = *block_format_named("Q8_0");
  Tensor blocks = *Tensor::make(DType::u8, {int64_t{16} * 2 * format.bytes});
  EXPECT_TRUE(quantize(format, ones, {blocks.mutable_data(), static_cast<size_t>(blocks.count())}));
  const ir::ConstantRef w = ir::decode_blocks(std::move(blocks), format, {16, 64});
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {2, 64}));
  graph.add_output(build("MatMul", {x, build.constant(ir::permute(w, {1, 0}))}), "y");
  const auto planned = planned_graph(graph, {.activations = Activations::i8, .verify = true}, **target_named("x86_avx512_vnni"));
  EXPECT_TRUE(planned) << planned.error().text();
  const auto got = run(*planned, std::vector{Tensor::of_f32({2, 64}, row)});
  EXPECT_TRUE(got) << got.error().text();
  return {static_cast<float>(got->at(0).number(0)), static_cast<float>(got->at(0).number(16))};
}

TEST(RoundedRows, OfZerosAndTinyNumbersAreZero) {
  EXPECT_EQ(sums_of({}), (std::vector<float>{0, 0}));
  EXPECT_EQ(sums_of({{0, 1e-31F}, {70, 1e-38F}}), (std::vector<float>{0, 0}));
}

TEST(RoundedRows, OfNaNAndInfinityAreNaNInTheirRowAlone) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    const std::vector<float> sums = sums_of({{40, number}, {64, 1}});
    EXPECT_TRUE(std::isnan(sums[0])) << number;
    EXPECT_NEAR(sums[1], 1, 1e-3);
  }
}

/// Products of one input whose matrices have several formats, as in mixtures.
TEST(RoundedRows, AreSharedByProductsOfOneInput) {
  const auto rounded_inputs = [](Activations activations, std::initializer_list<const char*> formats, bool other_input) {
    ir::Graph graph(ops::table());
    ir::Builder build(graph);
    const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {graph.symbols().symbol("n"), 256})), negative = build("Neg", {x});
    for (const char* format : formats) {
      const ir::ConstantRef w = ir::permute(tests::random_blocks(*block_format_named(format), 32, 256, 1), {1, 0});
      const bool is_last = format == *(formats.end() - 1);
      graph.add_output(build("MatMul", {is_last && other_input ? negative : x, build.constant(w)}), format);
    }
    const auto planned = planned_graph(graph, {.activations = activations, .verify = true}, **target_named("x86_avx512_bf16"));
    EXPECT_TRUE(planned) << planned.error().text();
    return std::ranges::count_if(planned->plan.groups, [](const Group& g) { return g.is_auxiliary(); });
  };
  EXPECT_EQ(rounded_inputs(Activations::i8, {"Q4_1", "Q8_0", "Q4_K"}, false), 1);
  EXPECT_EQ(rounded_inputs(Activations::i8, {"Q4_1", "Q6_K"}, false), 2) << "Q6_K has scales of 16 elements";
  EXPECT_EQ(rounded_inputs(Activations::bf16, {"Q4_1", "Q6_K"}, false), 1);
  EXPECT_EQ(rounded_inputs(Activations::i8, {"Q4_1", "Q8_0"}, true), 2) << "another input";
}

TEST(RoundedRows, TextOfAPlanKeepsThem) {
  ir::Graph graph(ops::table());
  ir::Builder build(graph);
  const BlockFormat& format = *block_format_named("Q4_1");
  const ir::ValueId x = graph.add_input("x", ir::Type(DType::f32, {3, 64}));
  graph.add_output(build("MatMul", {x, build.constant(ir::permute(tests::random_blocks(format, 32, 64, 1), {1, 0}))}), "y");
  for (const Activations activations : {Activations::bf16, Activations::i8}) {
    const auto planned = planned_graph(graph, {.activations = activations, .verify = true}, **target_named("x86_avx512_bf16"));
    ASSERT_TRUE(planned) << planned.error().text();
    ir::TextConstants constants;
    const std::string text = text_of(planned->plan, &constants);
    EXPECT_NE(text.find("activations " + std::string(name_of(activations))), std::string::npos) << text;
    EXPECT_NE(text.find(" rounded "), std::string::npos) << text;
    Symbols symbols;
    const auto again = parse_plan(text, symbols, &constants);
    ASSERT_TRUE(again) << again.error().text() << text;
    EXPECT_EQ(text_of(*again), text_of(planned->plan));
  }
}

TEST(RoundedRows, NeedInstructionsOfTheTarget) {
  EXPECT_TRUE(check_activations(Activations::f32, **target_named("x86_avx2")));
  EXPECT_TRUE(check_activations(Activations::i8, **target_named("x86_avx512_vnni")));
  EXPECT_TRUE(check_activations(Activations::bf16, **target_named("x86_avx512_bf16")));
  const auto bytes = check_activations(Activations::i8, **target_named("x86_avx512")),
             pairs = check_activations(Activations::bf16, **target_named("x86_avx512_vnni"));
  ASSERT_FALSE(bytes);
  ASSERT_FALSE(pairs);
  EXPECT_EQ(bytes.error().code(), Code::wrong_target);
  EXPECT_NE(bytes.error()->advice.find("--target x86_avx512_vnni"), std::string::npos) << bytes.error().text();
  EXPECT_NE(pairs.error()->advice.find("--target x86_avx512_bf16"), std::string::npos) << pairs.error().text();
}

}  // namespace
}  // namespace tenon::codegen
