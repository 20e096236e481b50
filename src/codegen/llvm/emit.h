// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/target.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

/// Where one kernel starts in the code blob.
struct CodeEntry {
  std::string name;
  uint64_t offset = 0;
};

/// Position-independent machine code without undefined symbols or relocations against anything outside; constants are inside.
/// Entry points have the C signature of runtime/kernel.h.
struct MachineCode {
  const Target* target = nullptr;  ///< that it was generated for
  std::vector<std::byte> bytes;    ///< to be mapped read-execute at a page boundary
  std::vector<CodeEntry> entries;  ///< in the order of the kernels
};

/// Of `target` and the targets that it extends, the one with the fewest needs on which the kernels run.
const Target& least_target(std::span<const TileKernel> kernels, const Target& target);

/// Generates code for all kernels with LLVM, straight to the code generator (no mid-level optimiser), on up to `threads` threads.
/// The same kernels in the same order give the same bytes, whatever `threads` is. Errors: internal (bad tile IR, or a gate failed:
/// undefined symbol, relocation), not_supported. Cost: 1.5 ms for a simple map, 3-6 ms for a contraction, 4 ms once a thread.
Result<MachineCode> emit(std::span<const TileKernel> kernels, const Target& target, int threads = 1);

}  // namespace tenon::codegen
