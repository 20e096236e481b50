// SPDX-License-Identifier: Apache-2.0
// The part of Frame for RunOptions::check_memory: canaries around all memory that kernels write.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "runtime/run/frame.h"

namespace tenon::runtime {

namespace {

uint64_t bytes_of_shape(DType dtype, const Sizes& shape) {
  return static_cast<uint64_t>(bytes_of(dtype, checked_count(shape).value_or(0)));
}

}  // namespace

void Frame::set_canaries(bool wanted) {
  if (canaries_) canaries_->clear();
  if (wanted == (canaries_ != nullptr)) return;
  canaries_ = wanted ? std::make_unique<MemoryCanaries>() : nullptr;
  values_.set_canaries(wanted);
}

/// Sets canaries around buffers that this step is the first to write, and around its scratch memory.
void Frame::canaries_before(uint32_t number, uint32_t lines, int threads) {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    const bool arena = info.kind == BufferInfo::Kind::arena && info.first == number, result = info.kind == BufferInfo::Kind::output;
    const bool known = std::ranges::all_of(info.shape, [&](Slot s) { return s < lines; });
    if (!known || !(arena || (result && !canaries_->watches(b)))) continue;
    canaries_->watch(b, static_cast<std::byte*>(values_.pointer(b)), bytes_of_shape(info.dtype, values_.shape_of(b)),
                     fmt::format("value '{}'", info.name));
  }
  const auto* const kernel = as<KernelStep>(program_.steps[number]);
  for (int t = 0; kernel && t < threads; ++t)
    canaries_->watch(program_.buffers.size() + static_cast<uint64_t>(t), kernels_.scratch_of(t), kernel->scratch_bytes,
                     fmt::format("the scratch memory of thread {}", t));
}

Result<void> Frame::canaries_after(uint32_t number, int threads) {
  TRY(canaries_->check(fmt::format("step {} ({})", number, program_.steps[number].label)));
  for (uint32_t b = 0; b < program_.buffers.size(); ++b)
    if (program_.buffers[b].kind == BufferInfo::Kind::arena && program_.buffers[b].last == number) canaries_->forget(b, true);
  for (int t = 0; t < threads; ++t) canaries_->forget(program_.buffers.size() + static_cast<uint64_t>(t), false);
  return {};
}

}  // namespace tenon::runtime
