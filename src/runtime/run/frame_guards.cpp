// SPDX-License-Identifier: Apache-2.0
// What a run with RunOptions::guard does more: guards around all memory that kernels write.
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

void Frame::guard(bool wanted) {
  if (guards_) guards_->clear();
  if (wanted == (guards_ != nullptr)) return;
  guards_ = wanted ? std::make_unique<Guards>() : nullptr;
  values_.set_guarded(wanted);
}

/// Guards around what this step is the first to write, and around its scratch memory.
void Frame::guard_before(uint32_t number, uint32_t lines, int threads) {
  for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
    const BufferInfo& info = program_.buffers[b];
    const bool arena = info.kind == BufferInfo::Kind::arena && info.first == number, result = info.kind == BufferInfo::Kind::output;
    const bool known = std::ranges::all_of(info.shape, [&](Slot s) { return s < lines; });
    if (!known || !(arena || (result && !guards_->watches(b)))) continue;
    guards_->watch(b, static_cast<std::byte*>(values_.pointer(b)), bytes_of_shape(info.dtype, values_.shape_of(b)),
                   fmt::format("value '{}'", info.name));
  }
  const auto* const kernel = as<KernelStep>(program_.steps[number]);
  for (int t = 0; kernel && t < threads; ++t)
    guards_->watch(program_.buffers.size() + static_cast<uint64_t>(t), kernels_.scratch_of(t), kernel->scratch_bytes,
                   fmt::format("the scratch memory of thread {}", t));
}

Result<void> Frame::guard_after(uint32_t number, int threads) {
  TRY(guards_->check(fmt::format("step {} ({})", number, program_.steps[number].label)));
  for (uint32_t b = 0; b < program_.buffers.size(); ++b)
    if (program_.buffers[b].kind == BufferInfo::Kind::arena && program_.buffers[b].last == number) guards_->forget(b, true);
  for (int t = 0; t < threads; ++t) guards_->forget(program_.buffers.size() + static_cast<uint64_t>(t), false);
  return {};
}

}  // namespace tenon::runtime
