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

/// The place of errors about its bytes.
inline constexpr std::string_view kKernelBlobPlace = "kernel blob";

/// What a kernel backend compiles a segment to: a program with size table and memory plan, its code, and the places of its weights.
struct KernelBlob {
  ProgramTable programs;          ///< one entry: operands of the segment to its results
  std::vector<CodeSection> code;  ///< one a target
  std::vector<uint64_t> weights;  ///< by weight of the blob: where its bytes lie among the program's weights
  uint32_t sizes = 0;             ///< how many sizes the program reads from the one around it (SizeLine::Kind::outer)
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
