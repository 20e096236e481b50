// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/complex_product.h"
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_complex_mul {

OP(complex_mul) {
    .name = "ComplexMul",
    .domain = "com.microsoft",
    .inputs = {{"A", "B"}},
    .outputs = {{"C"}},
    .infer = infer_by_definition,
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {complex_product(build, in[0], in[1], false)};
    },
    .samples = {{"f32[3,4,2], f32[3,4,2]", "f32[3,4,2], f32[4,2]", "f16[2,2], f16[1,2]"}},
};

}  // namespace tenon::ops::op_complex_mul
