// SPDX-License-Identifier: Apache-2.0
// Figures: those of x86_avx512_vnni.
#include "codegen/targets/x86_avx512_vnni.h"

namespace tenon::codegen {

extern const Target target_x86_avx512_vnni;

TARGET(x86_avx512_bf16) = kAvx512Vnni.extended_by(
    {
        .name = "x86_avx512_bf16",
        .title = "AVX-512 with VNNI and BF16",
        .tag = 4,
        .own_needs = "avx512_bf16",
        .own_features = "+avx512bf16",
        .multiply_adds = {{.operand = DType::bf16, .sum = DType::f32, .lanes = 16, .products = 2}},
    },
    &target_x86_avx512_vnni);

}  // namespace tenon::codegen
