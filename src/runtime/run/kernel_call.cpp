// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/kernel_call.h"

namespace tenon::runtime {

bool KernelCall::may_continue() const {
  if (stop_options == nullptr) return true;
  if (stopped->load(std::memory_order_relaxed) != Stop::none) return false;
  const Stop reason = requested_stop(*stop_options);
  if (reason != Stop::none) stopped->store(reason, std::memory_order_relaxed);
  return reason == Stop::none;
}

/// Generated code has no type information for the sanitiser's check of function pointers.
__attribute__((no_sanitize("function"))) void KernelCall::run(void* const* buffers, int64_t begin, int64_t end, int thread) const {
  const KernelArgs args{buffers, sizes, scratch + stride * static_cast<uint64_t>(thread)};
  function(&args, begin, end);
}

}  // namespace tenon::runtime
