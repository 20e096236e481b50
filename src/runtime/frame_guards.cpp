// SPDX-License-Identifier: Apache-2.0
// What a run with RunOptions::guard does more: guards round all memory that kernels write.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "runtime/frame.h"

namespace tenon::runtime {

namespace {

uint64_t bytes_of_shape(DType dtype, const Sizes& shape) {
  return static_cast<uint64_t>(bytes_of(dtype, checked_count(shape).value_or(0)));
}

}  // namespace

/// Buffers have room for guards, or not; what was laid out otherwise is laid out again.
void Frame::guard(bool wanted) {
  if (guards_) guards_->clear();
  if (wanted == (guards_ != nullptr)) return;
  guards_ = wanted ? std::make_unique<Guards>() : nullptr;
  scratch_stride_ = scratch_stride(program_) + 2 * margin();
  plan_ = nullptr;
  plans_.clear();
  stages_.clear();
}

/// Guards round what this step is the first to write, and round its scratch memory.
void Frame::guard_before(uint32_t number, uint32_t lines, int threads) {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    const bool arena = info.kind == BufferInfo::Kind::arena && info.first == number, result = info.kind == BufferInfo::Kind::output;
    const bool known = std::ranges::all_of(info.shape, [&](Slot s) { return s < lines; });
    if (!known || !(arena || (result && !guards_->watches(b)))) continue;
    guards_->watch(b, static_cast<std::byte*>(pointers_[b]), bytes_of_shape(info.dtype, shape_of(b)), fmt::format("value '{}'", info.name));
  }
  const Step& step = program_.steps[number];
  if (step.kind != Step::Kind::kernel) return;
  for (int t = 0; t < threads; ++t)
    guards_->watch(program_.buffers.size() + static_cast<uint64_t>(t), scratch_of(t), step.scratch_bytes,
                   fmt::format("the scratch memory of thread {}", t));
}

Result<void> Frame::guard_after(uint32_t number, int threads) {
  TRY(guards_->check(fmt::format("step {} ({})", number, program_.steps[number].label)));
  for (uint32_t b = 0; b < program_.buffers.size(); ++b)
    if (program_.buffers[b].kind == BufferInfo::Kind::arena && program_.buffers[b].last == number) guards_->forget(b, true);
  for (int t = 0; t < threads; ++t) guards_->forget(program_.buffers.size() + static_cast<uint64_t>(t), false);
  return {};
}

/// Results were written between guards: now they go where the caller wants them.
void Frame::deliver() {
  for (size_t k = 0; k < results_.size(); ++k) {
    const bool written_here = program_.buffers[program_.outputs[k].buffer].kind == BufferInfo::Kind::output;
    if (!written_here || bound_[k].first == nullptr) continue;
    const auto bytes = static_cast<size_t>(results_[k].byte_size());
    if (bytes > 0) std::memcpy(bound_[k].first, results_[k].data(), bytes);
    results_[k] = Tensor::view(results_[k].dtype(), results_[k].shape(), bound_[k].first, nullptr);
  }
}

}  // namespace tenon::runtime
