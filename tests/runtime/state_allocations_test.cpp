// SPDX-License-Identifier: Apache-2.0
// A warm run that changes states alone allocates nothing. The operators below are those of the whole process; sanitizers have their own.
#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "state_programs.h"

namespace {

std::atomic<long> new_calls{0};

void* counted(size_t size, size_t alignment) {
  ++new_calls;
  if (void* const memory = aligned_alloc(alignment, (size + alignment) / alignment * alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(size_t size) { return counted(size, 16); }
void* operator new(size_t size, std::align_val_t alignment) { return counted(size, static_cast<size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace tenon::tests {
namespace {

using namespace runtime;

void count_rows(const KernelArgs* args, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) static_cast<float*>(args->buffers[0])[k] += static_cast<float>(args->sizes[0]);
}

/// Entry "append" without results: both states are written in place.
ProgramTable silent_table() {
  ProgramTable table = state_table();
  Program& p = table[0];
  p.buffers[5] = buffer(BufferInfo::Kind::alias, DType::f32, {3}, 4, "plus");
  p.steps.resize(2);
  p.steps[1] = kernel_step({.kernel = 3, .tasks = 3, .grain = 5}, {5}, {2}, "Count");
  p.steps[1].lines = 6;
  p.outputs.clear();
  p.buffers[3].kind = BufferInfo::Kind::arena;
  return table;
}

void expect_no_allocations(const ProgramTable& table) {
  ASSERT_TRUE(decode(encode(table)));
  EngineParts parts;
  parts.programs = table;
  for (const KernelFunction f : {append_rows, read_rows, copy_rows, count_rows}) add_kernel(parts, f);
  const auto context = *Context::create(*Engine::create(std::move(parts), test_devices()));
  const std::vector inputs{Tensor::of_f32({kOuter, 1, kInner}, std::vector<float>(6, 1))};
  ASSERT_TRUE(context->run(inputs));
  const long before = new_calls;
  for (int64_t k = 1; k < kCapacity; ++k) ASSERT_TRUE(context->run(inputs));
  context->reset(0);
  for (int64_t k = 0; k < kCapacity; ++k) ASSERT_TRUE(context->run(inputs));
  EXPECT_LE(new_calls - before, table.states[0].shape[0] == kFreeSize ? 2 : 0) << "a reset frees the size, and the next run fixes it";
  EXPECT_EQ(context->length(0), kCapacity);
  EXPECT_EQ(context->state_value(1)->as<float>()[0], 20) << "1 + 2 + 3 + 4, twice";
  EXPECT_EQ(context->plans_made(), 1u);
}

TEST(StateAllocations, AreNoneInWarmAppends) { expect_no_allocations(silent_table()); }

TEST(StateAllocations, AreNoneInWarmAppendsToFreeSizes) {
  ProgramTable table = silent_table();
  table[0].sizes[3] = {SizeLine::Kind::input_dimension, 0, 0, 0, 0};
  table.programs.pop_back();
  for (StateInfo& state : table.states) state.shape[0] = kFreeSize;
  expect_no_allocations(table);
}

}  // namespace
}  // namespace tenon::tests
#endif
