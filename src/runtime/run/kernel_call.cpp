// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/kernel_call.h"

namespace tenon::runtime {

bool KernelCall::may_continue() const {
  if (watched == nullptr) return true;
  if (stopped->load(std::memory_order_relaxed) != Stop::none) return false;
  const Stop asked = requested_stop(*watched);
  if (asked != Stop::none) stopped->store(asked, std::memory_order_relaxed);
  return asked == Stop::none;
}

/// Generated code has no type in front of it for the sanitiser of undefined behaviour to look at.
__attribute__((no_sanitize("function"))) void KernelCall::run(void* const* buffers, int64_t begin, int64_t end, int thread) const {
  const KernelArgs args{buffers, sizes, scratch + stride * static_cast<uint64_t>(thread)};
  function(&args, begin, end);
}

}  // namespace tenon::runtime
