// SPDX-License-Identifier: Apache-2.0
// Figures: AMD's software optimization guide for family 19h (Zen 4: a 512-bit multiply-add a cycle), Intel's for Skylake-SP.
#pragma once
#include "codegen/targets/x86.h"

namespace tenon::codegen {

/// x86_avx512, for those that extend it.
inline constexpr Target kAvx512{
    .name = "x86_avx512",
    .title = "AVX-512",
    .tag = 2,
    .own_needs = "avx2 fma f16c bmi2 avx512f avx512bw avx512vl avx512dq avx512cd",
    .triple = "x86_64-unknown-linux-gnu",
    .own_features = "+avx2,+fma,+f16c,+bmi2,+prfchw,+evex512,+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512cd,-prefer-256-bit",
    .tuning = "znver4",
    .register_bytes = 64,
    .registers = 32,
    .has_mask_registers = true,
    .has_scale_by_power = true,
    .has_table_lookup = true,
    .multiply_adds = {{.operand = DType::f32, .sum = DType::f32, .lanes = 16, .cycles = 1},
                      {.operand = DType::f64, .sum = DType::f64, .lanes = 8, .cycles = 1}},
    .caches = {32 << 10, 1 << 20, 1 << 20},
    .memory = {{.name = "host"}},
    .plan_limits = kX86PlanLimits,
    .plan_passes = kX86PlanPasses,
};

}  // namespace tenon::codegen
