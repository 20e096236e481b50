// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "programs.h"

/// Programs with states, made by hand, whose kernels are functions of C++.
namespace tenon::tests {

inline constexpr int64_t kOuter = 2, kCapacity = 4, kInner = 3;

/// Adds code that jumps to a function, and its entry. Returns the kernel's number.
inline uint32_t add_kernel(runtime::EngineParts& parts, runtime::KernelFunction function) {
  const uint8_t before[] = {0x48, 0xb8}, after[] = {0xff, 0xe0};  // mov rax, imm64; jmp rax
  const auto address = reinterpret_cast<uint64_t>(function);
  parts.code.kernel_offsets.push_back(parts.code.bytes.size());
  const auto add = [&](const void* bytes, size_t size) {
    const auto* const first = static_cast<const std::byte*>(bytes);
    parts.code.bytes.insert(parts.code.bytes.end(), first, first + size);
  };
  add(before, sizeof before);
  add(&address, sizeof address);
  add(after, sizeof after);
  return static_cast<uint32_t>(parts.code.kernel_offsets.size() - 1);
}

/// (x: f32[2,n,3], rows: f32[2,..4,3]; n, length): appends x. A task an outer row.
inline void append_rows(const runtime::KernelArgs* args, int64_t begin, int64_t end) {
  const auto* const x = static_cast<const float*>(args->buffers[0]);
  auto* const rows = static_cast<float*>(args->buffers[1]);
  const int64_t n = args->sizes[0], length = args->sizes[1];
  for (int64_t o = begin; o < end; ++o)
    std::memcpy(rows + (o * kCapacity + length) * kInner, x + o * n * kInner, static_cast<size_t>(n * kInner) * sizeof(float));
}

/// (rows: f32[2,..4,3], to: f32[2,length,3]; length): copies the rows that there are.
inline void read_rows(const runtime::KernelArgs* args, int64_t begin, int64_t end) {
  const auto* const rows = static_cast<const float*>(args->buffers[0]);
  auto* const to = static_cast<float*>(args->buffers[1]);
  const int64_t length = args->sizes[0];
  for (int64_t o = begin; o < end; ++o)
    std::memcpy(to + o * length * kInner, rows + o * kCapacity * kInner, static_cast<size_t>(length * kInner) * sizeof(float));
}

/// (from, to: f32[2,length,3]; length)
inline void copy_rows(const runtime::KernelArgs* args, int64_t begin, int64_t end) {
  const auto* const from = static_cast<const float*>(args->buffers[0]);
  auto* const to = static_cast<float*>(args->buffers[1]);
  const auto size = args->sizes[0] * kInner;
  for (int64_t k = begin * size; k < end * size; ++k) to[k] = from[k];
}

inline runtime::Step kernel_step(runtime::KernelStep kind, std::vector<uint32_t> buffers, std::vector<runtime::Slot> sizes,
                                 std::string label) {
  runtime::Step step;
  step.kind = kind;
  step.buffers = std::move(buffers);
  step.sizes = std::move(sizes);
  step.label = std::move(label);
  return step;
}

/// x: f32[2,n,3] -> seen: f32[2,length + n,3]: appends x to the state `rows` (f32[2,..4,3]) in place and gives all rows, by way of the
/// arena; the state `count` (f32[2]) is replaced by count + 1. Kernels: 0 to 2 as above.
inline runtime::Program append_program() {
  using namespace runtime;
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program p;
  p.sizes = {{Kind::input_dimension, 0, 0, 1, 0}, {Kind::state_length, 0, 0, 0, 0},  {Kind::add, 0, 1, 0, 0},
             {Kind::constant, kOuter, 0, 0, 0},   {Kind::constant, kInner, 0, 0, 0}, {Kind::constant, 1, 0, 0, 0}};
  p.input_lines = 6;
  p.buffers = {buffer(Place::input, DType::f32, {3, 0, 4}, 0, "x"),    buffer(Place::state, DType::f32, {3, 1, 4}, 0, "rows"),
               buffer(Place::alias, DType::f32, {3, 2, 4}, 1, "more"), buffer(Place::output, DType::f32, {3, 2, 4}, 0, "seen"),
               buffer(Place::state, DType::f32, {3}, 1, "count"),      buffer(Place::dynamic, DType::f32, {3}, 0, "plus"),
               buffer(Place::arena, DType::f32, {3, 2, 4}, 0, "copy")};
  p.buffers[6].last = 3;
  p.inputs = {port("x", DType::f32, {3, 0, 4}, {"2", "n", "3"}, 0)};
  p.outputs = {port("seen", DType::f32, {3, 2, 4}, {"2", "past + n", "3"}, 3)};
  p.states = {{0, 1, 2, 1, 2}, {1, 4, 5, {}, {}}};
  p.blobs = {{"test", "add one"}};
  p.steps.resize(4);
  p.steps[0] = kernel_step(KernelStep{.kernel = 0, .tasks = 3, .grain = 5}, {0, 2}, {0, 1}, "Append");
  p.steps[1] = kernel_step(KernelStep{.kernel = 1, .tasks = 3, .grain = 5}, {2, 6}, {2}, "Read");
  p.steps[2] = kernel_step(KernelStep{.kernel = 2, .tasks = 3, .grain = 5}, {6, 3}, {2}, "Copy");
  p.steps[3].kind = SegmentStep{0};
  p.steps[3].buffers = {4};
  p.steps[3].results = {5};
  for (Step& s : p.steps) s.lines = 6;
  return p;
}

/// -> seen: f32[2,length,3], which changes no state.
inline runtime::Program read_program() {
  using namespace runtime;
  using Kind = SizeLine::Kind;
  using Place = BufferInfo::Kind;
  Program p;
  p.sizes = {
      {Kind::state_length, 0, 0, 0, 0}, {Kind::constant, kOuter, 0, 0, 0}, {Kind::constant, kInner, 0, 0, 0}, {Kind::constant, 1, 0, 0, 0}};
  p.input_lines = 4;
  p.buffers = {buffer(Place::state, DType::f32, {1, 0, 2}, 0, "rows"), buffer(Place::output, DType::f32, {1, 0, 2}, 0, "seen")};
  p.outputs = {port("seen", DType::f32, {1, 0, 2}, {"2", "past", "3"}, 1)};
  p.states = {{0, 0, 0, 0, 0}};
  p.steps.resize(1);
  p.steps[0] = kernel_step(KernelStep{.kernel = 1, .tasks = 1, .grain = 3}, {0, 1}, {0}, "Read");
  p.steps[0].lines = 4;
  return p;
}

/// Entries "append" and "read" over the states `rows`, which grows, and `count`.
inline runtime::ProgramTable state_table() {
  using namespace runtime;
  ProgramTable table;
  table.programs.push_back({.name = "append", .program = append_program()});
  table.programs.push_back({.name = "read", .program = read_program()});
  table.states = {{"rows", DType::f32, {kOuter, kCapacity, kInner}, 1, {}}, {"count", DType::f32, {kOuter}, {}, {}}};
  return table;
}

inline std::shared_ptr<runtime::Engine> state_engine(runtime::ProgramTable table = state_table()) {
  runtime::EngineParts parts;
  parts.programs = std::move(table);
  for (const runtime::KernelFunction f : {append_rows, read_rows, copy_rows}) add_kernel(parts, f);
  return *runtime::Engine::create(std::move(parts), test_devices());
}

}  // namespace tenon::tests
