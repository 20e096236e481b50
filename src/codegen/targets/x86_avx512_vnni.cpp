// SPDX-License-Identifier: Apache-2.0
// Figures: those of x86_avx512; groups of short products: measured on Zen 5, two instructions a cycle (bench/microkernel.cpp).
#include "codegen/target.h"

namespace tenon::codegen {

extern const Target target_x86_avx512;

TARGET(x86_avx512_vnni){
    .name = "x86_avx512_vnni",
    .title = "AVX-512 with VNNI",
    .tag = 3,
    .needs = "avx2 fma f16c bmi2 avx512f avx512bw avx512vl avx512dq avx512cd avx512_vnni",
    .triple = "x86_64-unknown-linux-gnu",
    .features = "+avx2,+fma,+f16c,+bmi2,+prfchw,+evex512,+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512cd,+avx512vnni,-prefer-256-bit",
    .tuning = "znver4",
    .register_bytes = 64,
    .registers = 32,
    .mask_registers = true,
    .scales_powers = true,
    .looks_up = true,
    .multiply_adds = {{.operand = DType::f32, .sum = DType::f32, .lanes = 16, .cycles = 1},
                      {.operand = DType::f64, .sum = DType::f64, .lanes = 8, .cycles = 1},
                      {.operand = DType::u8, .sum = DType::i32, .along = DType::i8, .lanes = 16, .products = 4}},
    .caches = {32 << 10, 1 << 20, 1 << 20},
    .memory = {{.name = "host"}},
    .extends = &target_x86_avx512,
};

}  // namespace tenon::codegen
