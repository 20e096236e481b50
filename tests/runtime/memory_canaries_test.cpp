// SPDX-License-Identifier: Apache-2.0
// Runs with RunOptions::check_memory: what writes outside its memory is named; what writes inside changes nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;
using Place = BufferInfo::Kind;

/// x86-64 code that calls the function whose address is element 0 of the kernel's first argument.
constexpr uint8_t kCallBack[] = {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x00, 0xff, 0x20};  // mov rax, [rdi]; mov rax, [rax]; jmp [rax]

/// first, second: i64[1], functions -> y: f32[n]; t: f32[n] lives in the arena between step 0 (first: call, t) and step 1
/// (second: call, t, y).
Program two_steps() {
  Program p;
  p.sizes = {{SizeLine::Kind::constant, 10, 0, 0, 0}, {SizeLine::Kind::constant, 1, 0, 0, 0}};
  p.input_lines = 2;
  p.buffers = {buffer(Place::input, DType::i64, {1}, 0, "first"), buffer(Place::input, DType::i64, {1}, 1, "second"),
               buffer(Place::arena, DType::f32, {0}, 0, "t"), buffer(Place::output, DType::f32, {0}, 0, "y")};
  p.buffers[2].last = 1;
  p.inputs = {port("first", DType::i64, {1}, {"1"}, 0), port("second", DType::i64, {1}, {"1"}, 1)};
  p.outputs = {port("y", DType::f32, {0}, {"10"}, 3)};
  p.steps.resize(2);
  for (Step& s : p.steps) {
    s.kind = KernelStep{.tasks = 1, .grain = 1, .scratch_bytes = 100};
    s.lines = 2;
  }
  p.steps[0].buffers = {0, 2};
  p.steps[0].label = "First";
  p.steps[1].buffers = {1, 2, 3};
  p.steps[1].label = "Second";
  return p;
}

std::unique_ptr<Context> context_of(ProgramTable programs) {
  EngineParts parts;
  parts.programs = std::move(programs);
  for (uint8_t byte : kCallBack) parts.code.bytes.push_back(std::byte{byte});
  parts.code.kernel_offsets = {0};
  return *Context::create(*Engine::create(std::move(parts), test_devices()));
}

template <class T>
T* argument(const KernelArgs* args, int k) {
  return static_cast<T*>(args->buffers[k]);
}

void write_t(const KernelArgs* args, int64_t, int64_t) {
  for (int k = 0; k < 10; ++k) argument<float>(args, 1)[k] = static_cast<float>(k);
}
void write_y(const KernelArgs* args, int64_t, int64_t) {
  for (int k = 0; k < 10; ++k) argument<float>(args, 2)[k] = argument<float>(args, 1)[k] + 1;
}
void write_half_of_t(const KernelArgs* args, int64_t, int64_t) {
  for (int k = 0; k < 5; ++k) argument<float>(args, 1)[k] = 0;
}
void write_after_t(const KernelArgs* args, int64_t, int64_t) { argument<float>(args, 1)[10] = 0; }
void write_far_after_t(const KernelArgs* args, int64_t, int64_t) { argument<float>(args, 1)[10 + 63] = 0; }
void write_before_y(const KernelArgs* args, int64_t, int64_t) { argument<float>(args, 2)[-1] = 0; }
void write_one_byte_after_y(const KernelArgs* args, int64_t, int64_t) { argument<uint8_t>(args, 2)[40] = 0; }
void write_after_scratch(const KernelArgs* args, int64_t, int64_t) { static_cast<uint8_t*>(args->scratch)[100] = 1; }
void write_all_scratch(const KernelArgs* args, int64_t begin, int64_t end) {
  for (int k = 0; k < 100; ++k) static_cast<uint8_t*>(args->scratch)[k] = 1;
  write_t(args, begin, end);
}

using Function = void (*)(const KernelArgs*, int64_t, int64_t);

Result<std::vector<float>> run(Context& context, Function first, Function second, bool check_memory) {
  const auto address = [](Function f) { return Tensor::of_i64({1}, std::vector<int64_t>{reinterpret_cast<int64_t>(f)}); };
  RunOptions options;
  options.check_memory = check_memory;
  const auto results = TRY(context.run(std::vector{address(first), address(second)}, options));
  return std::vector<float>(results[0].as<float>().begin(), results[0].as<float>().end());
}

const std::vector<float> kRight = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

TEST(MemoryCanaries, ReportsNothingForCorrectSteps) {
  auto context = context_of(two_steps());
  for (bool check_memory : {false, true, true, false, true}) EXPECT_EQ(*run(*context, write_t, write_y, check_memory), kRight);
  EXPECT_EQ(*run(*context, write_all_scratch, write_y, true), kRight);
}

void expect_named(Function first, Function second, std::string_view place, std::string_view expected, std::string_view found) {
  auto context = context_of(two_steps());
  auto got = run(*context, first, second, true);
  ASSERT_FALSE(got) << found;
  EXPECT_EQ(got.error().code(), Code::internal);
  EXPECT_EQ(got.error()->place, place);
  EXPECT_EQ(got.error()->expected, expected);
  EXPECT_EQ(got.error()->found, found);
  EXPECT_EQ(*run(*context, write_t, write_y, true), kRight) << "and the next run is right again";
}

TEST(MemoryCanaries, NamesStepAndBufferOfAWriteOutside) {
  EXPECT_TRUE(run(*context_of(two_steps()), write_after_t, write_y, false)) << "without canaries nothing is checked";
  expect_named(write_after_t, write_y, "step 0 (First)", "no write beyond value 't'", "a write 0 bytes after its end");
  expect_named(write_far_after_t, write_y, "step 0 (First)", "no write beyond value 't'", "a write 252 bytes after its end");
  expect_named(write_t, write_before_y, "step 1 (Second)", "no write beyond value 'y'", "a write 4 bytes before it");
  expect_named(write_t, write_one_byte_after_y, "step 1 (Second)", "no write beyond value 'y'", "a write 0 bytes after its end");
}

TEST(MemoryCanaries, CheckScratchMemory) {
  auto context = context_of(two_steps());
  auto got = run(*context, write_after_scratch, write_y, true);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error()->place, "step 0 (First)");
  EXPECT_TRUE(got.error()->expected.starts_with("no write beyond the scratch memory of thread ")) << got.error()->expected;
}

TEST(MemoryCanaries, MemoryThatWasNeverWrittenIsNan) {
  auto context = context_of(two_steps());
  EXPECT_EQ(*run(*context, write_t, write_y, true), kRight);
  const auto got = *run(*context, write_half_of_t, write_y, true);
  for (size_t k = 0; k < 10; ++k) EXPECT_EQ(std::isnan(got[k]), k >= 5) << k;
}

TEST(MemoryCanaries, ReadAfterTheLifeOfABufferGivesNan) {
  Program p = two_steps();
  p.buffers[2].last = 0;  // wrong: step 1 reads it
  auto context = context_of(p);
  for (float y : *run(*context, write_t, write_y, true)) EXPECT_TRUE(std::isnan(y));
}

TEST(MemoryCanaries, CopiesResultsToBoundMemory) {
  auto context = context_of(two_steps());
  std::vector<float> memory(10, -1);
  context->bind_output(0, memory.data(), 40);
  EXPECT_EQ(*run(*context, write_t, write_y, true), kRight);
  EXPECT_EQ(memory, kRight);
  EXPECT_FALSE(run(*context, write_t, write_one_byte_after_y, true));
}

TEST(MemoryCanaries, ChecksBranchesAndLoops) {
  RunOptions options;
  options.check_memory = true;
  auto loop = context_of(loop_program());
  const std::vector<Tensor> inputs = {Tensor::of_i64({}, std::vector<int64_t>{3}), Tensor::of_f32({2}, std::vector<float>{5, 6})};
  for (int round = 0; round < 2; ++round) {
    const auto got = loop->run(inputs, options);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].as<float>()[1], 9);
    EXPECT_EQ((*got)[1].as<float>()[5], 9);
  }

  ProgramTable table = branch_program();  // each body: one kernel that writes behind its result
  for (const size_t number : {1, 2}) {
    Program& body = table[number];
    body.steps.resize(1);
    body.blobs.clear();
    body.steps[0] = {};
    body.sizes.push_back({SizeLine::Kind::constant, 1, 0, 0, 0});
    body.input_lines = 2;
    body.buffers.resize(2);
    body.buffers[0] = buffer(Place::input, DType::i64, {0}, 0, "x");
    body.buffers[1] = buffer(Place::output, DType::f32, {0}, 0, "y");
    body.inputs[0].dtype = DType::i64;
    body.outputs[0].buffer = 1;
    body.steps[0].buffers = {0, 1};
    body.steps[0].kind = KernelStep{.tasks = 1, .grain = 1};
    body.steps[0].lines = 2;
    body.steps[0].label = "Inner";
  }
  table[0].buffers[1].dtype = table[0].inputs[1].dtype = DType::i64;
  auto branch = context_of(table);
  const std::vector<int64_t> calls(10, reinterpret_cast<int64_t>(&write_after_t));
  const auto got = branch->run(std::vector{Tensor::scalar(DType::boolean, 1), Tensor::of_i64({10}, calls)}, options);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error()->place, "step 0 (Inner)");
}

}  // namespace
}  // namespace tenon::tests
