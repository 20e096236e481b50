// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/engine.h"

namespace tenon::runtime {

/// Error::place of errors about the bytes of a kernel blob.
inline constexpr std::string_view kKernelBlobPlace = "kernel blob";

/// What a kernel backend compiles a segment to: a program, its machine code, and where the program
/// expects its weights.
struct KernelBlob {
  ProgramTable programs;                 ///< with one entry, whose inputs and outputs are operands and results of the segment
  std::vector<CodeSection> code;         ///< one for each target
  std::vector<uint64_t> weight_offsets;  ///< for each of backend::Blob::weights, in its order: byte offset among the weights of `programs`
  uint32_t outer_sizes = 0;              ///< how many sizes the program reads from the enclosing program (SizeLine::Kind::outer)
};

/// Numbered fields for ever.
std::string encode(const KernelBlob& blob);
/// Errors: bad_file for what does not decode, a program that is not sound, runs segments itself or has states, or code that lacks a kernel.
Result<KernelBlob> decode_kernel_blob(std::string_view bytes);

/// The parts of an engine that runs the blob's program with the code for that target. Weights are copied to `memory`. Errors: bad_file
/// where the weights are not those of the program; wrong_target where the blob has no code for the target, or this CPU lacks what it needs;
/// out_of_memory.
Result<EngineParts> engine_parts(KernelBlob blob, uint32_t target, std::span<const Tensor> weights, std::shared_ptr<RunMemory> memory);

}  // namespace tenon::runtime
