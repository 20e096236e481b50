// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// The record of a kernel's arguments (runtime::KernelArgs), as byte offsets: generated code reads fields at these, and the runtime
/// checks its struct against them. Each field is a pointer of 8 bytes on every target. Code in engine files relies on them: they never
/// change.
namespace tenon::inline base::kernel_arguments {

inline constexpr int64_t buffers = 0;   ///< to the pointers of the kernel's arguments
inline constexpr int64_t sizes = 8;     ///< to i64 sizes
inline constexpr int64_t scratch = 16;  ///< of the thread
inline constexpr int64_t bytes = 24;    ///< of the record

inline constexpr int64_t pointer_bytes = 8;
static_assert(buffers % pointer_bytes == 0 && sizes % pointer_bytes == 0 && scratch % pointer_bytes == 0);

}  // namespace tenon::inline base::kernel_arguments
