// SPDX-License-Identifier: Apache-2.0
// Ops that come at run time, in a table of their own: read, run by reference, rewritten, compiled, saved and loaded like those of the
// library.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "../../ops/run_time_op.h"
#include "compiler/compile.h"
#include "compiler/load.h"
#include "compiler/save.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "runtime/engine.h"

namespace tenon::compiler {
namespace {

const ops::OpDef kTwice{.name = "Twice",
                        .domain = "test.here",
                        .inputs = {{"x"}},
                        .infer = ops::infer_float_unary,
                        .loop_form = ops::unary_form<[](Expr x) { return x + x; }>,
                        .reference = ops::unary_reference<[](double x) { return 2 * x; }>};
/// No loop form: it runs by reference, parsed anew with the table when the engine is loaded.
const ops::OpDef kThrice{.name = "Thrice",
                         .domain = "test.here",
                         .inputs = {{"x"}},
                         .infer = ops::infer_float_unary,
                         .reference = ops::unary_reference<[](double x) { return 3 * x; }>};

std::unique_ptr<ir::OpTable> table_here() {
  const ops::OpDef* const more[] = {&kTwice, &kThrice};
  auto made = ops::table_with(more);
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

constexpr std::string_view kText = R"(graph main(x: f32[n]) {
  a = test.here::Twice(x)
  r = Relu(a)
  y = test.here::Thrice(r)
  return y
})";

void expect_result(runtime::Engine& engine, const std::vector<double>& want) {
  auto context = runtime::Context::create(engine.shared_from_this());
  ASSERT_TRUE(context) << context.error().text();
  const Tensor x = Tensor::of_f32({3}, std::vector<float>{-1, 0.5f, 2});
  const auto y = (*context)->run({&x, 1});
  ASSERT_TRUE(y) << y.error().text();
  EXPECT_EQ(numbers_of((*y)[0]), want);
}

/// Compiled, saved and loaded, portable too: each engine gives `want` of [-1, 0.5, 2].
void expect_everywhere(std::string_view text, const ir::OpTable& table, const std::vector<double>& want) {
  for (int opt : {0, 3}) {
    auto graph = ir::parse(text, table);
    ASSERT_TRUE(graph) << graph.error().text();
    CompileOptions options;
    options.opt = opt;
    auto compiled = compile(std::move(*graph), options);
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto path = std::filesystem::temp_directory_path() / ("tenon-op-table-" + std::to_string(getpid()) + ".tenon");
    for (const bool portable : {false, true}) {
      options.portable = portable;
      ASSERT_TRUE(save(*compiled, options, path));
      const auto loaded = load(path, {.ops = &table});
      ASSERT_TRUE(loaded) << loaded.error().text();
      expect_result(**loaded, want);
    }
    std::filesystem::remove(path);
    const auto engine = load_compiled(std::move(*compiled));
    ASSERT_TRUE(engine) << engine.error().text();
    expect_result(**engine, want);
  }
}

TEST(OpTable, WithOpsOfItsOwnIsUsedThroughout) {
  EXPECT_FALSE(ir::parse(kText, ops::table())) << "the library has no such op";
  expect_everywhere(kText, *table_here(), {0, 3, 12});
}

TEST(OpTable, HasOpsThatReadTheirSelf) {
  const ops::Multiples both("Both", {1, -1}), half("Half", {0.5});
  const ops::OpDef* const more[] = {&both.def(), &half.def()};
  const auto table = ops::table_with(more);
  ASSERT_TRUE(table) << table.error().text();
  expect_everywhere(R"(graph main(x: f32[n]) {
    r = Relu(x)
    a = test.here::Both(r, shift=1.0)
    b = Mul(a, a)
    y = test.here::Half(b)
    return y
  })",
                    **table, {0.5, 1.125, 4.5, 0.5, 0.125, 0.5});
}

TEST(OpTable, HasOneOpOfAName) {
  const ops::OpDef again{.name = "Relu", .infer = ops::infer_float_unary};
  const ops::OpDef* const more[] = {&again};
  const auto table = ops::table_with(more);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code(), Code::bad_usage);
}

}  // namespace
}  // namespace tenon::compiler
