// SPDX-License-Identifier: Apache-2.0
// Kernels that run part by part in one parallel region: on any number of threads they give the same, which is what the reference says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler::testing {
namespace {

std::string weights(std::string_view name, int64_t rows, int64_t columns) {
  const Tensor t = *ops::random_tensor(DType::f32, {rows, columns}, 7);
  std::string numbers;
  for (int64_t i = 0; i < t.count(); ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", t.number(i));
  return fmt::format("const {}: f32[{},{}] = [{}]\n", name, rows, columns, numbers);
}

/// Two products with a map of little and a row of all that they read between them; `d` is a result and is handed on too.
std::unique_ptr<ir::Graph> net(std::string_view rows) {
  const std::string text =
      fmt::format("graph main(x: f32[{},24]) {{ ", rows) + weights("w", 24, 32) + weights("v", 32, 24) +
      "a = MatMul(x, w) b = Relu(a) c = MatMul(b, v) d = Add(c, x) e = Softmax(d, axis=-1) f = MatMul(e, w) return f, d }";
  return *ir::parse(text, ops::table());
}

TEST(Regions, GiveTheSameOnAnyNumberOfThreads) {
  for (const auto& [rows, sizes] : {std::pair{"1000", Sizes{1000, 24}}, {"n,500", {2, 500, 24}}}) {
    const auto graph = net(rows);
    const std::vector<Tensor> inputs = {*ops::random_tensor(DType::f32, sizes, 3)};
    const auto want = ops::evaluate(*graph, inputs);
    ASSERT_TRUE(want);
    auto compiled = compile(graph->clone(), tests::compile_options(3));
    ASSERT_TRUE(compiled) << compiled.error().text();
    const auto joined = std::ranges::count_if(compiled->built.programs[0].steps, runtime::is_joined);
    if (tests::weather().fuse && !tests::weather().shared) EXPECT_EQ(joined, 3);
    const auto engine = *load_compiled(std::move(*compiled), tests::every_other_device());
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 3, 4}) {
      auto context = *runtime::Context::create(engine);
      ThreadPool thread_pool(threads);
      runtime::RunOptions options = tests::run_options();
      options.thread_pool = &thread_pool;
      options.threads = threads;
      const auto got = context->run(inputs, options);
      ASSERT_TRUE(got) << got.error().text();
      for (size_t k = 0; k < want->size(); ++k) {
        EXPECT_EQ(difference((*want)[k], (*got)[k]), "") << rows << " rows, " << threads << " threads";
        if (threads == 1)
          first.push_back(
              Tensor::of_f32((*got)[k].shape(), std::vector<float>((*got)[k].as<float>().begin(), (*got)[k].as<float>().end())));
        EXPECT_TRUE(std::ranges::equal(first[k].as<float>(), (*got)[k].as<float>())) << threads << " threads";
      }
    }
  }
}

/// A profile has each kernel of a region: one behind the other, in the region's time.
TEST(Regions, ReportEachKernel) {
  auto compiled = compile(net("1000"), tests::compile_options(3));
  ASSERT_TRUE(compiled) << compiled.error().text();
  const size_t steps = compiled->built.programs[0].steps.size();
  auto context = *runtime::Context::create(*load_compiled(std::move(*compiled), tests::every_other_device()));
  const std::vector<Tensor> inputs = {*ops::random_tensor(DType::f32, {1000, 24}, 3)};
  std::vector<uint32_t> reported;
  std::chrono::steady_clock::time_point last;
  runtime::RunOptions options = tests::run_options();
  options.on_step = [&](uint32_t step, auto begin, auto end) {
    reported.push_back(step);
    EXPECT_LE(last, begin);
    EXPECT_LE(begin, end);
    last = end;
  };
  ASSERT_TRUE(context->run(inputs, options));
  ASSERT_EQ(reported.size(), steps);
  EXPECT_TRUE(std::ranges::is_sorted(reported));
}

}  // namespace
}  // namespace tenon::compiler::testing
