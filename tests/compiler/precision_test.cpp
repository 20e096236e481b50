// SPDX-License-Identifier: Apache-2.0
// An engine keeps the precision that it was built with, in every form; a CPU that lacks it is told what to do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "compiler/load.h"
#include "compiler/save.h"
#include "helpers.h"
#include "ops/core/sample.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kSize = 64;

/// y = x * w, of numbers that bf16 does not hold.
std::unique_ptr<ir::Graph> product() {
  Tensor w = *Tensor::make(DType::f32, {kSize, kSize});
  for (int64_t i = 0; i < w.count(); ++i) w.set_number(i, std::sin(1.7 * static_cast<double>(i)));
  auto graph = *ir::parse("graph main(x: f32[n,64], unread: f32[64,64]) { y = MatMul(x, unread) return y }", ops::table());
  const ir::NodeId node = graph->value(graph->outputs()[0]).producer;
  graph->set_operand(node, 1, graph->add_constant(ir::constant_of(std::move(w)), "weights"));
  return graph;
}

CompileOptions options_of(codegen::Precision precision) {
  CompileOptions out;
  out.precision = precision;
  return out;
}

std::vector<float> results(const std::shared_ptr<runtime::Engine>& engine) {
  const auto context = *runtime::Context::create(engine);
  const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {3, kSize}, 1), *Tensor::make(DType::f32, {kSize, kSize})};
  const auto got = testing::copied_results(*context, inputs);
  EXPECT_TRUE(got) << got.error().text();
  const auto numbers = (*got)[0].as<float>();
  return {numbers.begin(), numbers.end()};
}

std::vector<float> results(codegen::Precision precision) {
  auto compiled = compile(product(), options_of(precision));
  EXPECT_TRUE(compiled) << compiled.error().text();
  return results(*load_compiled(*std::move(compiled)));
}

bool has_bf16() { return codegen::check_precision(codegen::Precision::bf16, **codegen::target_for()).has_value(); }

TEST(Precision, RoundsOperandsAndNotSums) {
  if (!has_bf16()) GTEST_SKIP() << "needs a CPU with AVX512_BF16";
  const auto plain = results(codegen::Precision::f32), rounded = results(codegen::Precision::bf16);
  EXPECT_NE(plain, rounded);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(plain[i], rounded[i], 0.1) << i;
}

TEST(Precision, OfAnEngineIsThatOfItsFileWithCodeOrWithout) {
  if (!has_bf16()) GTEST_SKIP() << "needs a CPU with AVX512_BF16";
  const auto expected = results(codegen::Precision::bf16);
  const auto path = std::filesystem::temp_directory_path() / ("tenon-precision-" + std::to_string(getpid()) + ".tenon");
  for (const bool portable : {false, true}) {
    CompileOptions options = options_of(codegen::Precision::bf16);
    options.portable = portable;
    ASSERT_TRUE(save(*compile(product(), options), options, path));
    const auto loaded = load(path);
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(results(*loaded), expected) << (portable ? "portable" : "native");
  }
  std::filesystem::remove(path);
}

TEST(Precision, IsRefusedForCodeThatLacksIt) {
  CompileOptions options = options_of(codegen::Precision::bf16);
  options.target = *codegen::target_named("x86_avx512");
  const auto refused = compile(product(), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::wrong_target);
  EXPECT_EQ(refused.error()->found, "AVX-512");
  EXPECT_FALSE(refused.error()->expected.empty() || refused.error()->advice.empty());
  const auto not_shared_out = partition_graph(product(), options);
  ASSERT_FALSE(not_shared_out);
  EXPECT_EQ(not_shared_out.error().code(), Code::wrong_target);
}

}  // namespace
}  // namespace tenon::compiler
