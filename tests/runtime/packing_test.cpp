// SPDX-License-Identifier: Apache-2.0
// The step that numbers the wanted places of sequences.
#include <gtest/gtest.h>

#include "programs.h"
#include "runtime/program_check.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// keep: bool[s, l] -> rows: i64[u], places: i64[s, l], starts: i64[s + 1]; then sizes: i64[1] = [u].
Program packing_program() {
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program p;
  p.sizes = {{Kind::input_dimension, 0, 0, 0, 0},
             {Kind::input_dimension, 0, 0, 1, 0},
             {Kind::constant, 1, 0, 0, 0},
             {Kind::add, 0, 0, 2, 0},
             {Kind::bound, 0, 0, 0, 0}};
  p.input_lines = 4;
  p.buffers = {buffer(Place::input, DType::boolean, {0, 1}, 0, "keep"), buffer(Place::dynamic, DType::i64, {4}, 0, "rows"),
               buffer(Place::output, DType::i64, {0, 1}, 1, "places"), buffer(Place::output, DType::i64, {3}, 2, "starts"),
               buffer(Place::output, DType::i64, {2}, 3, "sizes")};
  p.inputs = {port("keep", DType::boolean, {0, 1}, {"s", "l"}, 0)};
  p.outputs = {port("rows", DType::i64, {4}, {"u"}, 1), port("places", DType::i64, {0, 1}, {"s", "l"}, 2),
               port("starts", DType::i64, {3}, {"s + 1"}, 3), port("sizes", DType::i64, {2}, {"1"}, 4)};
  p.steps.resize(2);
  p.steps[0].kind = RowsStep();
  p.steps[0].buffers = {0};
  p.steps[0].results = {1, 2, 3};
  p.steps[0].sizes = {0, 1};
  p.steps[0].lines = 4;
  p.steps[0].bindings = {{4, 0, 0}};
  p.steps[1].kind = SizesStep();
  p.steps[1].buffers = {4};
  p.steps[1].sizes = {4};
  p.steps[1].lines = 5;
  return p;
}

Result<std::vector<std::vector<int64_t>>> packed(Context& context, Sizes shape, const std::vector<int>& keep) {
  Tensor t = *Tensor::make(DType::boolean, std::move(shape));
  for (size_t i = 0; i < keep.size(); ++i) t.set_integer(static_cast<int64_t>(i), keep[i]);
  std::vector<std::vector<int64_t>> out;
  for (const Tensor& r : TRY(context.run(std::span(&t, 1)))) out.push_back(integers_of(r));
  return out;
}

TEST(PackingStep, NumbersTheKeptRowsOfEachRun) {
  EngineParts parts;
  parts.programs = packing_program();
  auto engine = Engine::create(std::move(parts), {});
  ASSERT_TRUE(engine) << engine.error().text();
  const auto context = *Context::create(*engine);
  using Lists = std::vector<std::vector<int64_t>>;
  const auto expect = [&](Sizes shape, const std::vector<int>& keep, const Lists& want) {
    const auto got = packed(*context, std::move(shape), keep);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(*got, want);
  };
  expect({2, 3}, {1, 0, 1, 0, 1, 0}, {{0, 2, 4}, {0, 0, 1, 0, 2, 0}, {0, 2, 3}, {3}});
  expect({2, 3}, {0, 0, 0, 0, 0, 1}, {{5}, {0, 0, 0, 0, 0, 0}, {0, 0, 1}, {1}});
  expect({2, 3}, {1, 1, 1, 1, 1, 1}, {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 3, 6}, {6}});
  expect({1, 4}, {0, 0, 0, 0}, {{}, {0, 0, 0, 0}, {0, 0}, {0}});
}

TEST(PackingStep, DoesNotReuseRowNumbersThatACallerHolds) {
  EngineParts parts;
  parts.programs = packing_program();
  const auto context = *Context::create(*Engine::create(std::move(parts), {}));
  Tensor keep = *Tensor::make(DType::boolean, {1, 4});
  keep.set_integer(3, 1);
  const auto first = context->run(std::span(&keep, 1));
  ASSERT_TRUE(first) << first.error().text();
  const Tensor rows = (*first)[0];
  keep.set_integer(0, 1);
  ASSERT_TRUE(context->run(std::span(&keep, 1)));
  EXPECT_EQ(integers_of(rows), std::vector<int64_t>{3});
}

TEST(PackingStep, CountsAllRowsBeforeARun) {
  Program p = packing_program();
  p.buffers.push_back(buffer(BufferInfo::Kind::arena, DType::f32, {4}, 0, "value"));
  const std::vector<Sizes> shapes{{8, 100}};
  const auto planned = planned_bytes(p, shapes);
  ASSERT_TRUE(planned) << planned.error().text();
  EXPECT_GE(planned->values, 800u * (8 + 4));
  EXPECT_LE(planned->values, 800u * (8 + 4) + 2 * kSlack);
}

TEST(PackingStep, IsRefusedWithOtherBuffersThanItWrites) {
  ASSERT_TRUE(decode(encode(packing_program())));
  const std::vector<void (*)(Program&)> edits = {
      [](Program& p) { p.steps[0].results.pop_back(); },
      [](Program& p) { p.steps[0].results[1] = kMissing; },
      [](Program& p) { p.steps[0].sizes = {1, 0}; },
      [](Program& p) { p.buffers[0].dtype = p.inputs[0].dtype = DType::i64; },
      [](Program& p) { p.buffers[0].shape = {1, 0}; },
      [](Program& p) { p.buffers[1].kind = BufferInfo::Kind::arena; },
      [](Program& p) { p.buffers[1].dtype = p.outputs[0].dtype = DType::i32; },
      [](Program& p) { p.buffers[1].shape = {4, 2}; },
      [](Program& p) { p.buffers[2].dtype = p.outputs[1].dtype = DType::i32; },
      [](Program& p) { p.buffers[2].shape = {1, 0}; },
      [](Program& p) { p.buffers[2].shape = {3}; },
      [](Program& p) { p.buffers[3].shape = {0, 1}; },
      [](Program& p) { p.buffers[3].dtype = p.outputs[2].dtype = DType::i32; },
  };
  for (size_t k = 0; k < edits.size(); ++k) {
    Program p = packing_program();
    edits[k](p);
    EXPECT_FALSE(decode(encode(p))) << "edit " << k;
  }
}

/// Starts that are too few are found before they are written.
TEST(PackingStep, WritesNoMoreStartsThanTheBufferHolds) {
  EngineParts parts;
  parts.programs = packing_program();
  parts.programs[0].sizes[3] = {SizeLine::Kind::constant, 1, 0, 0, 0};
  auto engine = Engine::create(std::move(parts), {});
  ASSERT_TRUE(engine) << engine.error().text();
  EXPECT_EQ(packed(**Context::create(*engine), {2, 3}, {1, 1, 1, 1, 1, 1}).error().code(), Code::internal);
}

}  // namespace
}  // namespace tenon::tests
