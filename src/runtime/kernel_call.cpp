// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_call.h"

namespace tenon::runtime {

/// Generated code has no type in front of it for the sanitiser of undefined behaviour to look at.
__attribute__((no_sanitize("function"))) void KernelCall::operator()(int64_t begin, int64_t end, int thread) const {
  if (watched != nullptr) {
    if (stopped->load(std::memory_order_relaxed) != Stop::none) return;
    if (const Stop asked = asked_to_stop(*watched); asked != Stop::none) return stopped->store(asked, std::memory_order_relaxed);
  }
  const KernelArgs args{arguments, sizes, scratch + stride * static_cast<uint64_t>(thread)};
  function(&args, begin, end);
}

}  // namespace tenon::runtime
