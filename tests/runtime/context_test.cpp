// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <thread>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

std::vector<Tensor> inputs_of(std::vector<float> x) {
  const auto n = static_cast<int64_t>(x.size());
  return {Tensor::of_f32({n}, x), Tensor::of_i64({n}, std::vector<int64_t>(x.size(), 0))};
}

std::vector<float> floats(const Tensor& t) { return {t.as<float>().begin(), t.as<float>().end()}; }

struct ContextTest : testing::Test {
  std::shared_ptr<Engine> engine = small_engine();
  std::unique_ptr<Context> context = *Context::create(engine);

  Diagnostic refused(std::vector<Tensor> inputs, const RunOptions& options = {}) {
    auto got = context->run(inputs, options);
    EXPECT_FALSE(got);
    return got ? Diagnostic{} : *got.error();
  }
  void expect_run(std::vector<float> x, std::vector<float> found) {
    auto got = context->run(inputs_of(x));
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ(got->size(), 3u);
    for (float& v : x) v += 1;
    EXPECT_EQ(floats((*got)[0]), x);
    EXPECT_EQ(floats((*got)[1]), found);
    EXPECT_EQ(integers_of((*got)[2]), (std::vector<int64_t>{static_cast<int64_t>(x.size()), 2 * static_cast<int64_t>(found.size())}));
  }
};

TEST_F(ContextTest, GivesResultsWhoseSizesDependOnData) {
  expect_run({1, -5, 3}, {2, 4});
  expect_run({-2, -2, -2}, {});
  expect_run({5, 5, 5}, {6, 6, 6});
  expect_run({1, 2, 3, 4, -9, 0}, {2, 3, 4, 5, 1});
  expect_run({7}, {8});
}

/// With a late size too: each of the two stages keeps its own layouts.
TEST_F(ContextTest, KeepsPlansOfTheLastEightShapes) {
  const auto run = [&](size_t n) { expect_run(std::vector<float>(n, 1), std::vector<float>(n, 2)); };
  for (size_t n = 1; n <= 8; ++n) run(n);
  EXPECT_EQ(context->plans_made(), 16u);
  for (size_t n = 8; n >= 1; --n) run(n);
  EXPECT_EQ(context->plans_made(), 16u);
  run(9);  // in place of 8, which was used longest ago
  EXPECT_EQ(context->plans_made(), 18u);
  for (size_t n = 7; n >= 1; --n) run(n);
  EXPECT_EQ(context->plans_made(), 18u);
  run(8);
  EXPECT_EQ(context->plans_made(), 20u);
}

TEST_F(ContextTest, RefusesTheWrongNumberOfInputs) {
  const Diagnostic d = refused({inputs_of({1})[0]});
  EXPECT_EQ(d.code, Code::bad_input);
  EXPECT_EQ(d.expected, "2");
  EXPECT_EQ(d.found, "1");
}

TEST_F(ContextTest, RefusesAnotherDtypeRankOrRange) {
  auto inputs = inputs_of({1, 2});
  auto swapped = inputs;
  swapped[0] = swapped[1];
  EXPECT_EQ(refused(swapped).code, Code::bad_input);
  EXPECT_EQ(refused(swapped).place, "input 'x'");
  EXPECT_EQ(refused(swapped).found, "i64[2]");
  auto square = inputs;
  square[0] = Tensor::of_f32({1, 2}, std::vector<float>{1, 2});
  EXPECT_EQ(refused(square).what, "wrong rank");
  EXPECT_EQ(refused(inputs_of({})).code, Code::bad_input);
  EXPECT_EQ(refused(inputs_of(std::vector<float>(1001, 1))).expected, "n between 1 and 1000");
}

TEST_F(ContextTest, RefusesOneNameWithTwoSizes) {
  auto inputs = inputs_of({1, 2});
  inputs[1] = Tensor::of_i64({3}, std::vector<int64_t>{0, 0, 0});
  EXPECT_EQ(refused(inputs).code, Code::bad_input);
  EXPECT_EQ(refused(inputs).place, "input 'ids'");
  EXPECT_EQ(refused(inputs).expected, "n = 2");
  expect_run({1, -5, 3}, {2, 4});
}

TEST_F(ContextTest, RefusesIndicesOutOfRangeOfTheirTable) {
  for (int64_t wrong : {int64_t{2}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    auto inputs = inputs_of({1, 2});
    inputs[1] = Tensor::of_i64({2}, std::vector<int64_t>{1, wrong});
    EXPECT_EQ(refused(inputs).code, Code::index_out_of_range) << wrong;
  }
}

TEST_F(ContextTest, StopsOnRequest) {
  StopToken token;
  RunOptions options;
  options.token = &token;
  uint32_t last = 99;
  options.on_step = [&](uint32_t step, auto, auto) {
    last = step;
    token.stop = step == 1;
  };
  EXPECT_EQ(refused(inputs_of({1, 2}), options).code, Code::cancelled);
  EXPECT_EQ(last, 1u);
  expect_run({1, -5, 3}, {2, 4});
}

TEST_F(ContextTest, StopsAtTheDeadline) {
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(refused(inputs_of({1, 2}), options).code, Code::deadline);
  options.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_TRUE(context->run(inputs_of({1, 2}), options));
}

TEST_F(ContextTest, WritesResultsWhereTheyAreBound) {
  int64_t sizes[2] = {-1, -1};
  float plus[4] = {-1, -1, -1, -1};
  context->bind_output(2, sizes, sizeof sizes);
  context->bind_output(0, plus, sizeof plus);
  auto got = context->run(inputs_of({1, 2, -3}));
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[2].data(), reinterpret_cast<const std::byte*>(sizes));
  EXPECT_EQ(sizes[0], 3);
  EXPECT_EQ(sizes[1], 4);
  EXPECT_EQ((*got)[0].data(), reinterpret_cast<const std::byte*>(plus));
  EXPECT_EQ(plus[2], -2);
  EXPECT_EQ(plus[3], -1) << "written behind the result";

  EXPECT_EQ(refused(inputs_of({1, 2, 3, 4, 5})).code, Code::bad_input) << "plus has room for four";
  context->bind_output(0, nullptr, 0);
  context->bind_output(2, sizes, sizeof sizes - 1);
  const Diagnostic d = refused(inputs_of({1}));
  EXPECT_EQ(d.code, Code::bad_input);
  EXPECT_EQ(d.place, "output 'sizes'");
  EXPECT_EQ(d.expected, "16 bytes");
  context->bind_output(2, nullptr, 0);
  expect_run({1, -5, 3}, {2, 4});
}

TEST(EngineParts, ThatDoNotFitAreRefused) {
  EngineParts parts;
  parts.programs = small_program();
  EXPECT_EQ(Engine::create(std::move(parts)).error().code(), Code::not_supported);

  parts = {};
  parts.programs = small_program();
  parts.programs.weight_bytes = 1;
  EXPECT_EQ(Engine::create(std::move(parts), test_devices()).error().code(), Code::bad_file);

  parts = {};
  parts.programs = small_program();
  parts.programs[0].steps[0].kind = KernelStep();
  EXPECT_EQ(Engine::create(std::move(parts), test_devices()).error().code(), Code::bad_file);
}

TEST(Entries, RunByName) {
  ProgramTable table = small_program();
  table.programs.push_back({.name = "other", .program = branch_program()[0]});
  table[1].steps[0] = {.kind = SegmentStep(), .buffers = {1}, .results = {2}, .sizes = {}, .lines = 1, .bindings = {}, .label = "AddOne"};
  table[1].blobs = {{"test", "add one"}};
  ASSERT_TRUE(decode(encode(table)));
  const auto engine = small_engine(table);
  ASSERT_EQ(engine->entries().size(), 2u);
  const auto other = engine->entry("other");
  ASSERT_TRUE(other);
  EXPECT_EQ(engine->inputs(*other)[0].name, "if");
  const auto context = *Context::create(engine);
  float bound[3] = {};
  context->bind_output(0, bound, sizeof bound, *other);
  const std::vector<Tensor> inputs{Tensor::scalar(DType::boolean, 1), Tensor::of_f32({3}, std::vector<float>{1, 2, 3})};
  const auto got = context->run(inputs, {}, *other);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(floats((*got)[0]), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ((*got)[0].data(), reinterpret_cast<const std::byte*>(bound));
  EXPECT_EQ(context->run(inputs_of({1, 2}))->size(), 3u) << "the first entry";
}

TEST(Entries, OfAnotherNameAreRefusedWithTheNearest) {
  const auto refused = small_engine()->entry("mian");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_usage);
  EXPECT_EQ(refused.error()->expected, "main");
  EXPECT_NE(refused.error()->advice.find("'main'"), std::string::npos);
}

TEST(ContextErrors, OfDevicesArePassedOn) {
  Program program = small_program();
  program.blobs[0].bytes = "something else";
  auto context = *Context::create(small_engine(program));
  auto got = context->run(inputs_of({1, 2}));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::not_supported);
}

TEST(ContextSegments, ReadWeightsWithoutACopy) {
  static const float kWeight[1 + kSlack / sizeof(float)] = {0.5f};
  EngineParts parts;
  parts.programs = small_program();
  parts.programs[0].blobs[0].bytes = "add weight";
  parts.programs[0].steps[0].buffers.push_back(static_cast<uint32_t>(parts.programs[0].buffers.size()));
  parts.programs[0].buffers.push_back(buffer(BufferInfo::Kind::weight, DType::f32, {}, 0, ""));
  parts.programs.weight_bytes = sizeof(float);
  parts.weights = std::as_bytes(std::span(kWeight));
  auto context = *Context::create(*Engine::create(std::move(parts), test_devices()));
  RunOptions options;
  options.threads = 1;
  const auto got = context->run(inputs_of({1, 2}), options);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ((*got)[0].as<float>()[1], 2.5f);
}

/// A step whose kernel returns at once, with tasks for the whole thread pool.
Program with_kernel() {
  Program p = small_program();
  Step step;
  step.buffers = {0, 1};
  step.sizes = {0};
  step.kind = KernelStep{.tasks = 0, .grain = 2, .scratch_bytes = 100};
  step.lines = 3;
  step.label = "Nothing";
  p.steps.insert(p.steps.begin(), step);
  return p;
}

StopToken called_back_token;

void stop_then_mark(const KernelArgs* args, int64_t begin, int64_t end) {
  called_back_token.stop = true;
  for (int64_t k = begin; k < end; ++k) static_cast<int64_t*>(args->buffers[1])[k] = 1;
}

TEST(Cancelling, PersistsWhenTheTokenIsReset) {
  auto context = calling_back();
  std::vector<int64_t> calls(64, reinterpret_cast<int64_t>(&stop_then_mark));
  RunOptions options;
  options.threads = 1;
  options.token = &called_back_token;
  options.on_step = [](uint32_t, auto, auto) { called_back_token.stop = false; };  // as another thread might, at that moment
  called_back_token.stop = false;
  auto got = context->run(std::vector{Tensor::of_i64({64}, calls)}, options);
  called_back_token.stop = false;
  ASSERT_FALSE(got) << "a run that left tasks out gave results, the last of them " << (*got)[0].integer(63);
  EXPECT_EQ(got.error().code(), Code::cancelled);
  EXPECT_EQ(got.error()->place, "CallBack");
}

TEST(Contexts, OfOneEngineRunOnManyThreadsAtOnce) {
  EngineParts parts;
  parts.programs = with_kernel();
  parts.code.bytes = {std::byte{0xc3}};  // x86-64: ret
  parts.code.kernel_offsets = {0};
  auto created = Engine::create(std::move(parts), test_devices());
  ASSERT_TRUE(created) << created.error().text();
  const std::shared_ptr<const Engine> engine = *created;
  std::atomic<int> wrong{0};
  auto work = [&](int id) {
    auto context = *Context::create(engine);
    for (int round = 0; round < 200; ++round) {
      std::vector<float> x(static_cast<size_t>(1 + (round * 7 + id) % 90), static_cast<float>(id));
      auto got = context->run(inputs_of(x));
      if (!got || floats((*got)[0]) != std::vector<float>(x.size(), static_cast<float>(id + 1)) ||
          integers_of((*got)[2])[1] != 2 * static_cast<int64_t>(x.size()))
        ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) threads.emplace_back(work, id);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tenon::tests
