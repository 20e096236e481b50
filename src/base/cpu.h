// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tenon::inline base {

/// Instruction sets that both the CPU has and the system saves the registers of. Nothing else decides what code runs.
struct CpuFeatures {
  bool avx2 = false, fma = false, f16c = false, bmi2 = false;
  bool avx512f = false, avx512bw = false, avx512vl = false, avx512dq = false, avx512cd = false;
  bool avx512_bf16 = false, avx512_vnni = false;

  /// What the AVX2 target needs.
  bool runs_avx2() const { return avx2 && fma && f16c && bmi2; }
  /// What the AVX-512 target needs.
  bool runs_avx512() const { return runs_avx2() && avx512f && avx512bw && avx512vl && avx512dq && avx512cd; }
  /// Those that the targets ask for: "AVX2, FMA", or "neither AVX2 nor AVX-512".
  std::string text() const;
};

/// Asks cpuid and xgetbv, once.
const CpuFeatures& cpu_features();

}  // namespace tenon::inline base
