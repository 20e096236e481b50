// SPDX-License-Identifier: Apache-2.0
// Layouts of values whose sizes follow from shapes, lengths of states and data together; and of bodies, from sizes around them.
#include <gtest/gtest.h>

#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// (to: f32[length,u]; length, u): 10 * row + column.
void fill_pairs(const KernelArgs* args, int64_t, int64_t) {
  for (int64_t r = 0; r < args->sizes[0]; ++r)
    for (int64_t c = 0; c < args->sizes[1]; ++c)
      static_cast<float*>(args->buffers[0])[r * args->sizes[1] + c] = static_cast<float>(10 * r + c);
}

/// (from, to: f32[length,u]; length, u)
void copy_pairs(const KernelArgs* args, int64_t, int64_t) {
  const auto bytes = static_cast<size_t>(args->sizes[0] * args->sizes[1]) * sizeof(float);
  std::memcpy(args->buffers[1], args->buffers[0], bytes);
}

/// x: f32[n] -> pairs: f32[length + n,u], where u of the elements of x are over 0; the state `rows` grows by n.
Program late_program() {
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program p;
  p.sizes = {{Kind::input_dimension, 0, 0, 0, 0},
             {Kind::state_length, 0, 0, 0, 0},
             {Kind::add, 0, 0, 1, 0},
             {Kind::constant, 1, 0, 0, 0},
             {Kind::bound, 0, 0, 0, 0}};
  p.input_lines = 4;
  p.buffers = {buffer(Place::input, DType::f32, {0}, 0, "x"),       buffer(Place::state, DType::f32, {1}, 0, "rows"),
               buffer(Place::alias, DType::f32, {2}, 1, "more"),    buffer(Place::dynamic, DType::f32, {4}, 0, "positive"),
               buffer(Place::arena, DType::f32, {2, 4}, 0, "made"), buffer(Place::output, DType::f32, {2, 4}, 0, "pairs")};
  p.buffers[4].first = 1;
  p.inputs = {port("x", DType::f32, {0}, {"n"}, 0)};
  p.outputs = {port("pairs", DType::f32, {2, 4}, {"past + n", "u"}, 5)};
  p.states = {{0, 1, 2, 1, 2}};
  p.blobs = {{"test", "positives"}};
  p.steps.resize(3);
  p.steps[0].kind = SegmentStep{0};
  p.steps[0].buffers = {0};
  p.steps[0].results = {3};
  p.steps[0].bindings = {{4, 0, 0}};
  p.steps[0].lines = 4;
  p.steps[1] = kernel_step({.kernel = 0, .tasks = 3, .grain = 3}, {4}, {2, 4}, "Fill");
  p.steps[2] = kernel_step({.kernel = 1, .tasks = 3, .grain = 3}, {4, 5}, {2, 4}, "Copy");
  p.steps[1].lines = p.steps[2].lines = 5;
  return p;
}

std::unique_ptr<Context> late_context(int64_t capacity) {
  ProgramTable table = late_program();
  table.states = {{"rows", DType::f32, {capacity}, 0, {}}};
  EXPECT_TRUE(decode(encode(table)));
  EngineParts parts;
  parts.programs = table;
  for (const KernelFunction f : {fill_pairs, copy_pairs}) add_kernel(parts, f);
  return *Context::create(*Engine::create(std::move(parts), test_devices()));
}

/// Runs x: f32[n] with u elements over 0, and looks at the result of that many rows and at the room of the value behind it.
void expect_pairs(Context& context, int64_t n, int64_t u, int64_t rows) {
  SCOPED_TRACE(std::to_string(n) + " elements, " + std::to_string(u) + " over 0, " + std::to_string(rows) + " rows");
  std::vector<float> x(static_cast<size_t>(n), -1);
  std::fill_n(x.begin(), u, 1.0F);
  const auto got = context.run(std::vector{Tensor::of_f32({n}, x)});
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ((*got)[0].shape(), (Sizes{rows, u}));
  EXPECT_EQ((*got)[0].as<float>()[static_cast<size_t>(rows * u - 1)], static_cast<float>(10 * (rows - 1) + u - 1));
  EXPECT_GE(context.arena_bytes(), static_cast<uint64_t>(rows * u) * sizeof(float));
}

TEST(LateSizes, DependOnLengthsAndData) {
  const auto context = late_context(9);
  RunOptions options;
  options.check_memory = true;
  for (int64_t k = 1; k <= 9; ++k) {
    const auto got = context->run(std::vector{Tensor::of_f32({1}, std::vector<float>{1})}, options);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_EQ((*got)[0].shape(), (Sizes{k, 1}));
    EXPECT_EQ((*got)[0].as<float>()[static_cast<size_t>(k - 1)], static_cast<float>(10 * (k - 1)));
  }
  EXPECT_FALSE(context->run(std::vector{Tensor::of_f32({1}, std::vector<float>{1})}));
}

TEST(LateSizes, LayoutOfAShorterStateIsNotUsed) {
  const auto context = late_context(400);
  for (int64_t k = 1; k <= 10; ++k) expect_pairs(*context, 40, 40, 40 * k);
}

/// Layouts are kept by all that they follow from.
TEST(LateSizes, LayoutOfOtherShapesOrDataIsNotUsed) {
  const auto context = late_context(400);
  for (int round = 0; round < 2; ++round)
    for (const auto& [n, u] : std::vector<std::pair<int64_t, int64_t>>{{40, 1}, {40, 40}, {80, 40}, {80, 1}, {20, 20}, {300, 20}}) {
      context->reset();
      expect_pairs(*context, n, u, n);
    }
}

/// if: bool[], x: f32[n] -> n: i64[1], by a branch whose bodies take no input.
ProgramTable outer_program() {
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program body;
  body.sizes = {{Kind::outer, 0, 0, 0, 0}, {Kind::constant, 1, 0, 0, 0}};
  body.input_lines = 2;
  body.buffers = {buffer(Place::output, DType::i64, {1}, 0, "n")};
  body.outputs = {port("n", DType::i64, {1}, {"1"}, 0)};
  body.steps.resize(1);
  body.steps[0].kind = SizesStep();
  body.steps[0].buffers = {0};
  body.steps[0].sizes = {0};
  body.steps[0].lines = 2;
  Program p;
  p.sizes = {{Kind::input_dimension, 0, 1, 0, 0}, {Kind::constant, 1, 0, 0, 0}};
  p.input_lines = 2;
  p.buffers = {buffer(Place::input, DType::boolean, {}, 0, "if"), buffer(Place::input, DType::f32, {0}, 1, "x"),
               buffer(Place::output, DType::i64, {1}, 0, "n")};
  p.inputs = {port("if", DType::boolean, {}, {}, 0), port("x", DType::f32, {0}, {"n"}, 1)};
  p.outputs = {port("n", DType::i64, {1}, {"1"}, 2)};
  p.steps.resize(1);
  p.steps[0].kind = BranchStep();
  p.steps[0].buffers = {0};
  p.steps[0].results = {2};
  p.steps[0].sizes = {0};
  p.steps[0].lines = 2;
  return table_of({std::move(p), {{body}, {body}}});
}

TEST(OuterSizes, OfAnotherRunAreNotUsed) {
  const ProgramTable table = outer_program();
  ASSERT_TRUE(decode(encode(table)));
  const auto context = *Context::create(small_engine(table));
  for (const int64_t n : {3, 5, 3, 7, 5}) {
    const auto got = context->run(std::vector{Tensor::scalar(DType::boolean, 1), *Tensor::make(DType::f32, {n})});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].number(0), n);
  }
}

}  // namespace
}  // namespace tenon::tests
