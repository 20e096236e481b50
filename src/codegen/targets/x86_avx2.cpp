// SPDX-License-Identifier: Apache-2.0
// Figures: Intel's optimization reference manual (Haswell and later), AMD's software optimization guide for family 19h.
#include "codegen/targets/x86.h"

namespace tenon::codegen {

TARGET(x86_avx2){
    .name = "x86_avx2",
    .title = "AVX2",
    .tag = 1,
    .own_needs = "avx2 fma f16c bmi2",
    .triple = "x86_64-unknown-linux-gnu",
    .own_features = "+avx2,+fma,+f16c,+bmi2,+prfchw",
    .tuning = "znver3",
    .register_bytes = 32,
    .registers = 16,
    .multiply_adds = {{.operand = DType::f32, .sum = DType::f32, .lanes = 8}, {.operand = DType::f64, .sum = DType::f64, .lanes = 4}},
    .caches = {32 << 10, 256 << 10, 1 << 20},
    .memory = {{.name = "host"}},
    .plan_limits = kX86PlanLimits,
    .plan_passes = kX86PlanPasses,
};

}  // namespace tenon::codegen
