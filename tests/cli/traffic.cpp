// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/traffic.h"

#include <gtest/gtest.h>

namespace tenon::cli {
namespace {

using Kind = runtime::BufferInfo::Kind;

constexpr int64_t kElements = 1 << 14, kTasks = 8, kBytes = 4 * kElements;

/// A step that writes a buffer and one that reads it, each of kTasks tasks.
runtime::Program program() {
  runtime::Program p;
  for (const int64_t size : {kElements, kTasks, int64_t{1}}) p.sizes.push_back({.constant = size});
  p.input_lines = 3;
  p.buffers.resize(1);
  p.buffers[0].kind = Kind::arena;
  p.buffers[0].shape = {0};
  p.buffers[0].last = 1;
  for (int k = 0; k < 2; ++k) {
    runtime::Step& s = p.steps.emplace_back();
    s.buffers = {0};
    s.kind = runtime::KernelStep{.tasks = 1, .grain = 2};
  }
  return p;
}

/// Bytes that the reading threads find with another one, on two.
double shared_read_bytes(const codegen::AccessPattern& writer, const codegen::AccessPattern& reader) {
  const codegen::Machine machine = codegen::default_machine(**codegen::target_named("x86_avx512"), 2);
  std::vector<std::optional<codegen::Work>> works(2, codegen::Work{});
  works[0]->access_patterns = {writer};
  works[1]->access_patterns = {reader};
  const auto calls = calls_of_steps(program(), {}, works, machine);
  EXPECT_TRUE(calls);
  return calls ? (*calls)[1].shared_read_bytes : -1;
}

TEST(Traffic, AThreadFindsItsOwnWhereBothWalkInOrder) {
  const codegen::AccessPattern written{.parts = kTasks, .written = true}, crossed{.written = true};
  EXPECT_EQ(shared_read_bytes(written, {.parts = kTasks}), 0);
  EXPECT_EQ(shared_read_bytes(written, {}), kBytes / 2) << "half of what is read here and there is another's";
  EXPECT_EQ(shared_read_bytes(crossed, {.parts = kTasks}), kBytes / 2);
  EXPECT_EQ(shared_read_bytes(written, {.whole = true}), kBytes) << "each of two reads the other's half";
}

}  // namespace
}  // namespace tenon::cli
