// SPDX-License-Identifier: Apache-2.0
// Branches and loops over programs made by hand.
#include <gtest/gtest.h>

#include <thread>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

std::vector<float> floats(const Tensor& t) { return {t.as<float>().begin(), t.as<float>().end()}; }

std::unique_ptr<Context> context_of(ProgramTable program) { return *Context::create(small_engine(std::move(program))); }

std::vector<Tensor> turns_of(int64_t trips, std::vector<float> x) {
  return {Tensor::of_i64({}, {&trips, 1}), Tensor::of_f32({static_cast<int64_t>(x.size())}, x)};
}

TEST(Loop, PassesStatesAndStacksRows) {
  auto context = context_of(loop_program());
  for (int64_t trips : {3, 1, 2, 40}) {
    auto got = context->run(turns_of(trips, {1, 5}));
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats((*got)[0]), (std::vector<float>{1 + static_cast<float>(trips), 5 + static_cast<float>(trips)}));
    ASSERT_EQ((*got)[1].shape(), (Sizes{trips, 2}));
    for (int64_t k = 0; k < trips; ++k) EXPECT_EQ((*got)[1].number(2 * k), 2 + k);
  }
}

TEST(Loop, OfNoIterationsReturnsInitialValuesAndNoRows) {
  auto context = context_of(loop_program());
  for (int64_t trips : {int64_t{0}, int64_t{-7}}) {
    auto got = context->run(turns_of(trips, {4}));
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats((*got)[0]), std::vector<float>{4});
    EXPECT_EQ((*got)[1].shape()[0], 0);
  }
}

TEST(Loop, WritesIntoBoundMemory) {
  auto context = context_of(loop_program());
  float last[2] = {}, rows[6] = {};
  context->bind_output(0, last, sizeof last);
  context->bind_output(1, rows, sizeof rows);
  ASSERT_TRUE(context->run(turns_of(3, {1, 2})));
  EXPECT_EQ(last[0], 4);
  EXPECT_EQ(last[1], 5);
  EXPECT_EQ(rows[5], 5);
  const auto refused = context->run(turns_of(4, {1, 2}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_input);
}

TEST(Loop, WithoutEndStopsOnRequestOrAtTheDeadline) {
  auto context = context_of(loop_program());
  const auto inputs = turns_of(INT64_MAX, {1});
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  auto late = context->run(inputs, options);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::deadline);
  StopToken token;
  RunOptions watched;
  watched.token = &token;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    token.stop = true;
  });
  auto stopped = context->run(inputs, watched);
  stopper.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
}

TEST(Loop, RefusesRowsOfAnotherShapeThanItsResult) {
  ProgramTable p = loop_program();
  p[0].sizes[2] = {SizeLine::Kind::constant, 3, 0, 0, 0};  // the program promises three rows
  p[0].buffers[3].kind = BufferInfo::Kind::output;
  p[0].steps[0].bindings.clear();
  p[0].input_lines = 3;
  auto context = context_of(p);
  EXPECT_TRUE(context->run(turns_of(3, {1})));
  for (int64_t trips : {2, 4}) {
    const auto got = context->run(turns_of(trips, {1}));
    ASSERT_FALSE(got) << trips;
    EXPECT_EQ(got.error().code(), Code::bad_input);
  }
}

/// Which of its results a buffer is says who places it: another one has other memory.
TEST(Loop, RefusesABufferOfAnotherResult) {
  ProgramTable p = loop_program();
  const auto on = std::ranges::find(p[1].buffers, BufferInfo::Kind::output, &BufferInfo::kind);
  ASSERT_NE(on, p[1].buffers.end());
  ASSERT_TRUE(decode(encode(p)));
  on->index = 1;
  EXPECT_FALSE(decode(encode(p)));
}

TEST(Branch, RunsTheBodyThatTheConditionSelects) {
  auto context = context_of(branch_program());
  for (bool condition : {true, false, true}) {
    const std::vector<Tensor> inputs = {Tensor::scalar(DType::boolean, condition), Tensor::of_f32({2}, std::vector<float>{1, 7})};
    auto got = context->run(inputs);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats((*got)[0]), (condition ? std::vector<float>{2, 8} : std::vector<float>{3, 9}));
  }
}

TEST(Branch, RefusesAResultOfAnotherShapeThanDeclared) {
  ProgramTable p = branch_program();
  p[1].blobs = {{"test", "positives"}};
  auto context = context_of(p);
  const auto inputs = [](std::vector<float> x) {
    return std::vector<Tensor>{Tensor::scalar(DType::boolean, 1), Tensor::of_f32({static_cast<int64_t>(x.size())}, x)};
  };
  EXPECT_TRUE(context->run(inputs({1, 7})));
  const auto refused = context->run(inputs({1, -7}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_input);
}

TEST(Branch, MemoryIsInThePlan) {
  ProgramTable p = branch_program();
  const auto without = planned_bytes(p, std::vector<Sizes>{{}, {100}});
  p[2].buffers[1].kind = BufferInfo::Kind::arena;
  const auto with = planned_bytes(p, std::vector<Sizes>{{}, {100}});
  ASSERT_TRUE(without && with);
  EXPECT_GE(with->values, without->values + 400);
}

TEST(Branch, ScratchMemoryIsInThePlan) {
  ProgramTable p = branch_program();
  Step kernel{.kind = KernelStep{.scratch_bytes = 5000}, .buffers = {}, .results = {}, .sizes = {}, .bindings = {}, .label = ""};
  p[1].steps.push_back(kernel);
  std::get<KernelStep>(kernel.kind).scratch_bytes = 10;
  p[0].steps.push_back(kernel);
  const auto planned = planned_bytes(p, std::vector<Sizes>{{}, {100}});
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->scratch, 4096u + 8192u + scratch_stride(p[2]));
  EXPECT_EQ(planned->peak(3), planned->values + 3 * planned->scratch);
}

TEST(ControlBytes, DecodeToTheSameProgram) {
  for (const ProgramTable& p : {loop_program(), branch_program()}) {
    auto again = decode(encode(p));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(encode(*again), encode(p));
  }
}

/// With a sanitiser, a wild index would show.
void use(const ProgramTable& p) {
  std::vector<Sizes> shapes;
  for (const PortInfo& port : p[0].inputs) shapes.emplace_back(port.shape.size(), 3);
  (void)planned_bytes(p, shapes);
}

TEST(ControlBytes, WithAnyBitFlippedAreBadOrSound) {
  size_t refused = 0;
  for (const ProgramTable& program : {loop_program(), branch_program()}) {
    const std::string good = encode(program);
    for (size_t bit = 0; bit < good.size() * 8; ++bit) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      auto p = decode(bad);
      if (p) use(*p);
      else EXPECT_EQ(p.error().code(), Code::bad_file) << bit;
      refused += !p;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(ControlBytes, RefuseEveryIndexOutOfRange) {
  const std::vector<void (*)(ProgramTable&)> edits = {
      [](ProgramTable& p) { std::get<LoopStep>(p[0].steps[0].kind).first_body = 2; },
      [](ProgramTable& p) { std::get<LoopStep>(p[0].steps[0].kind).carried = 2; },
      [](ProgramTable& p) { p[0].steps[0].buffers.pop_back(); },
      [](ProgramTable& p) { p[0].steps[0].results.pop_back(); },
      [](ProgramTable& p) { p[0].steps[0].results.push_back(2); },
      [](ProgramTable& p) { p[0].steps[0].sizes.clear(); },
      [](ProgramTable& p) { p[0].steps[0].results[0] = 1; },
      [](ProgramTable& p) { p[0].buffers[2].dtype = DType::f64; },
      [](ProgramTable& p) { p[1].sizes[0].a = 1; },
      [](ProgramTable& p) { std::get<SegmentStep>(p[1].steps[1].kind).blob = 1; },
      [](ProgramTable& p) { p[1].buffers[2].index = 9; },
      [](ProgramTable& p) { p.programs.pop_back(); },
  };
  for (size_t k = 0; k < edits.size(); ++k) {
    ProgramTable p = loop_program();
    edits[k](p);
    EXPECT_FALSE(decode(encode(p))) << "edit " << k;
  }
  ProgramTable p = branch_program();
  p.programs.pop_back();
  EXPECT_FALSE(decode(encode(p)));
}

/// if: bool[], x: f32[n] -> y: f32[n]: branches in branches, so deep.
ProgramTable nested_branches(int depth) {
  ProgramTable simple = branch_program();
  Program leaf = simple[0];  // of the same inputs: x + 1
  leaf.blobs = {{"test", "add one"}};
  leaf.steps[0] = {.kind = SegmentStep(), .buffers = {1}, .results = {2}, .sizes = {}, .lines = 1, .bindings = {}, .label = ""};
  ProgramTree tree{leaf};
  for (int k = 0; k < depth; ++k) {
    Program around = simple[0];
    around.steps[0].kind = BranchStep();
    around.steps[0].buffers = {0, 0, 1, 0, 1};
    tree = {around, {std::move(tree), {leaf}}};
  }
  return table_of(std::move(tree));
}

TEST(ControlBytes, RefuseBodiesThatNestTooDeeply) {
  EXPECT_TRUE(decode(encode(nested_branches(32))));
  const auto refused = decode(encode(nested_branches(33)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_file);
}

/// One body of two steps would be run twice as often at each depth.
TEST(ControlBytes, RefuseABodyOfTwoSteps) {
  ProgramTable p = loop_program();
  p[0].steps.push_back(p[0].steps[0]);
  p[0].steps[1].bindings.clear();
  EXPECT_FALSE(decode(encode(p)));
}

TEST(ControlBytes, RefuseABodyOfNoStep) {
  ProgramTable p = loop_program();
  p.programs.push_back(p.programs[1]);
  EXPECT_FALSE(decode(encode(p)));
}

/// A program that runs itself never ends.
TEST(ControlBytes, RefuseABodyThatRunsItself) {
  ProgramTable p = nested_branches(2);
  ASSERT_TRUE(decode(encode(p)));
  for (Step& step : p[1].steps) std::get<BranchStep>(step.kind).first_body = 1;
  EXPECT_FALSE(decode(encode(p)));
}

}  // namespace
}  // namespace tenon::tests
