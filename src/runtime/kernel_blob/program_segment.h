// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "runtime/device.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::runtime {

/// A segment of a kernel backend, ready to run: the blob's program with size table, layout, code and arena of its own. Its runs copy
/// operands to `memory` and results from there, and are part of the run of the engine around it, on the same thread pool.
/// blob: encode(KernelBlob). target: of the code. memory: of this segment alone. Errors: those of decode_kernel_blob and engine_parts; of a
/// run those of Context::run.
Result<std::unique_ptr<Segment>> make_program_segment(const BlobView& blob, uint32_t target, std::shared_ptr<RunMemory> memory);

}  // namespace tenon::runtime
