// SPDX-License-Identifier: Apache-2.0
// Figures: groups of short products: measured on Zen 5, two instructions a cycle (bench/microkernel.cpp).
#pragma once
#include "codegen/targets/x86_avx512.h"

namespace tenon::codegen {

extern const Target target_x86_avx512;

/// x86_avx512_vnni, for those that extend it.
inline constexpr Target kAvx512Vnni = kAvx512.extended_by(
    {
        .name = "x86_avx512_vnni",
        .title = "AVX-512 with VNNI",
        .tag = 3,
        .own_needs = "avx512_vnni",
        .own_features = "+avx512vnni",
        .multiply_adds = {{.operand = DType::u8, .sum = DType::i32, .along = DType::i8, .lanes = 16, .products = 4}},
    },
    &target_x86_avx512);

}  // namespace tenon::codegen
