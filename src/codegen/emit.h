// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/result.h"
#include "codegen/tile/tile.h"

namespace tenon::codegen {

/// What code is generated for. Chosen on the feature bits used, nothing else.
struct Target {
  enum class Isa : uint8_t { avx2 = 1, avx512 = 2 } isa = Isa::avx2;
  int lanes() const { return isa == Isa::avx512 ? 16 : 8; }  ///< f32 lanes of a register
  int registers() const { return isa == Isa::avx512 ? 32 : 16; }
  /// The best that a CPU of these features runs. Errors: wrong_target without AVX2, FMA, F16C and BMI2.
  static Result<Target> of(const CpuFeatures& cpu);
  /// The best that this CPU runs.
  static Result<Target> host() { return of(cpu_features()); }
};

/// Where one kernel starts in the code blob.
struct CodeEntry {
  std::string name;
  uint64_t offset = 0;
};

/// Position-independent machine code without undefined symbols or relocations against anything outside; constants are inside.
/// Entry points have the C signature of runtime/kernel.h.
struct MachineCode {
  Target target;                   ///< what it runs on
  std::vector<std::byte> bytes;    ///< to be mapped read-execute at a page border
  std::vector<CodeEntry> entries;  ///< in the order of the kernels
};

/// Generates code for all kernels with LLVM, straight to the code generator (no mid-level optimiser), on up to `threads` threads.
/// The same kernels in the same order give the same bytes, whatever `threads` is. Errors: internal (bad tile IR, or a gate failed:
/// undefined symbol, relocation), not_supported. Cost: 1.5 ms for a simple map, 3-6 ms for a contraction, 4 ms once a thread.
Result<MachineCode> emit(std::span<const TileKernel> kernels, const Target& target, int threads = 1);

}  // namespace tenon::codegen
