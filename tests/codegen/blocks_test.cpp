// SPDX-License-Identifier: Apache-2.0
// Products and rows of constants in blocks: unpacked, they are what decoded weights give, bit by bit, and no plan decodes them.
// run() is the tile interpreter: no machine code runs here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../random_blocks.h"
#include "ir/builder.h"
#include "ops/core/op.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Two blocks or more.
int64_t depth_of(std::string_view format) { return std::max<int64_t>(96, int64_t{2} * block_format_named(format)->elements); }

/// f32[rows, depth_of(format)] in blocks of the format.
ir::ConstantRef matrix_in(std::string_view format, int64_t rows, uint64_t seed) {
  return tests::random_blocks(*block_format_named(format), rows, depth_of(format), seed);
}

struct Network {
  std::unique_ptr<ir::Graph> graph = std::make_unique<ir::Graph>(ops::table());
  ir::Builder build{*graph};

  ir::ValueId input(DType dtype, DimList shape) { return graph->add_input("x", ir::Type(dtype, std::move(shape))); }
  void output(ir::ValueId v) { graph->add_output(v, "y"); }
};

std::string text_of_kernels(const PlannedGraph& planned) {
  std::string out;
  for (const auto& kernels : planned.kernels_by_group)
    for (const Kernel& k : kernels) out += text_of(k.tile);
  return out;
}

std::vector<Target> targets_of_blocks() { return {**target_named("x86_avx2"), **target_named("x86_avx512")}; }

/// Sums in the order of k, each product added with one rounding.
std::vector<float> products(const Tensor& x, const Tensor& w) {
  std::vector<float> out;
  const int64_t depth = x.shape()[1];
  for (int64_t r = 0; r < x.shape()[0]; ++r)
    for (int64_t n = 0; n < w.shape()[0]; ++n) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        sum = std::fma(x.as<float>()[static_cast<size_t>(r * depth + k)], w.as<float>()[static_cast<size_t>(n * depth + k)], sum);
      out.push_back(sum);
    }
  return out;
}

class Blocks : public testing::TestWithParam<const char*> {};

TEST_P(Blocks, ProductsHaveTheBitsOfDecodedWeights) {
  const ir::ConstantRef w = matrix_in(GetParam(), 70, 3);
  Network network;
  const ir::ValueId x = network.input(DType::f32, {network.graph->symbols().symbol("n"), depth_of(GetParam())});
  network.output(network.build("MatMul", {x, network.build.constant(ir::permute(w, {1, 0}))}));
  ASSERT_TRUE(network.build.status()) << network.build.status().error().text();
  for (const Target& target : targets_of_blocks()) {
    const auto planned = planned_graph(*network.graph, {.verify = true}, target);
    ASSERT_TRUE(planned) << planned.error().text();
    for (const int64_t n : {1, 2, 4, 5, 9, 30}) {
      const Tensor rows = *ops::random_tensor(DType::f32, {n, depth_of(GetParam())}, static_cast<uint64_t>(n), -2, 2);
      const auto got = run(*planned, std::vector{rows});
      ASSERT_TRUE(got) << got.error().text();
      const auto numbers = (*got)[0].as<float>();
      EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), products(rows, *ir::materialise(*w)))
          << target.name << ", " << n << " rows";
    }
  }
}

TEST_P(Blocks, RowsAreReadFromThePanelsOfTheirProduct) {
  const ir::ConstantRef table = matrix_in(GetParam(), 50, 4);
  Network network;
  const ir::ValueId tokens = network.input(DType::i64, {network.graph->symbols().symbol("n")});
  const ir::ValueId rows = network.build("Gather", {network.build.constant(table), tokens});
  network.output(rows);
  network.output(network.build("MatMul", {rows, network.build.constant(ir::permute(table, {1, 0}))}));
  ASSERT_TRUE(network.build.status()) << network.build.status().error().text();
  for (const Target& target : targets_of_blocks()) {
    const auto planned = planned_graph(*network.graph, {.verify = true}, target);
    ASSERT_TRUE(planned) << planned.error().text();
    const std::vector<int64_t> ids{49, 0, 17, 31};
    const auto got = run(*planned, std::vector{Tensor::of_i64({4}, ids)});
    ASSERT_TRUE(got) << got.error().text();
    const Tensor decoded = *ir::materialise(*table);
    for (int64_t r = 0; r < 4; ++r)
      for (int64_t k = 0; k < depth_of(GetParam()); ++k)
        EXPECT_EQ((*got)[0].number(r * depth_of(GetParam()) + k), decoded.number(ids[static_cast<size_t>(r)] * depth_of(GetParam()) + k))
            << target.name << ", row " << r;
    const auto numbers = (*got)[1].as<float>();
    EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()), products((*got)[0], decoded)) << target.name;
    for (const auto& kernels : planned->kernels_by_group)
      for (const Kernel& k : kernels)
        for (const ArrayId a : k.arguments) {
          const ir::ConstantRef& constant = planned->plan.arrays[a].constant;
          EXPECT_TRUE(!constant || std::holds_alternative<ir::Constant::PackBlocks>(constant->source)) << text_of(k.tile);
        }
  }
}

TEST_P(Blocks, ThatLieAlongTheLanesAreDecoded) {
  const ir::ConstantRef w = matrix_in(GetParam(), 64, 6);
  Network network;
  const ir::ValueId x = network.input(DType::f32, {network.graph->symbols().symbol("n"), 64});
  network.output(network.build("MatMul", {x, network.build.constant(w)}));
  const Tensor rows = *ops::random_tensor(DType::f32, {3, 64}, 7, -2, 2);
  const auto want = ops::evaluate(*network.graph, std::vector{rows});
  ASSERT_TRUE(want) << want.error().text();
  for (const Target& target : targets_of_blocks()) {
    const auto planned = planned_graph(*network.graph, {.verify = true}, target);
    ASSERT_TRUE(planned) << planned.error().text();
    const auto got = run(*planned, std::vector{rows});
    ASSERT_TRUE(got) << got.error().text();
    for (int64_t k = 0; k < want->at(0).count(); ++k)
      ASSERT_NEAR(got->at(0).number(k), want->at(0).number(k), 1e-4) << target.name << ", " << k;
  }
}

TEST_P(Blocks, LowTilesUnpackInRegisters) {
  Network network;
  const ir::ValueId x = network.input(DType::f32, {1, depth_of(GetParam())});
  network.output(network.build("MatMul", {x, network.build.constant(ir::permute(matrix_in(GetParam(), 64, 5), {1, 0}))}));
  const auto planned = planned_graph(*network.graph, {.verify = true}, **target_named("x86_avx512"));
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_EQ(text_of_kernels(*planned).find(" = contract "), std::string::npos);
  EXPECT_EQ(planned->kernels_by_group.back().back().tile.scratch_bytes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Blocks,
                         testing::Values("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS",
                                         "MXFP4"));

}  // namespace
}  // namespace tenon::codegen
