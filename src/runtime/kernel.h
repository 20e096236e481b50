// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

#include "base/kernel_arguments.h"

namespace tenon::runtime {

/// The interface of generated code. One call runs tasks [begin, end) on the calling thread.
struct KernelArgs {
  void* const* buffers;  ///< one an argument of the kernel
  const int64_t* sizes;  ///< the kernel's symbolic sizes
  void* scratch;         ///< 64-byte aligned, the kernel's scratch_bytes, private to the thread
};
using KernelFunction = void (*)(const KernelArgs* args, int64_t begin, int64_t end);

static_assert(offsetof(KernelArgs, buffers) == kernel_arguments::buffers && offsetof(KernelArgs, sizes) == kernel_arguments::sizes &&
              offsetof(KernelArgs, scratch) == kernel_arguments::scratch && sizeof(KernelArgs) == kernel_arguments::bytes);

}  // namespace tenon::runtime
