// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/resolve_reshapes.h"

namespace tenon::codegen {

void resolve_reshapes(NestAccess& access, const Nest& nest, const Plan& plan) {
  while (plan.arrays[access.array].same_bytes >= 0) {
    const Array& shape = plan.arrays[access.array];
    const Expr flat = access.flat ? access.flat : flatten(access.index, row_major(shape.shape));
    auto index = unflatten(flat, plan.arrays[shape.same_bytes].shape, nest.axes);
    // What may leave its array does so dimension by dimension: padding it needs them.
    if (!index && access.within && !access.flat) return;
    access.array = shape.same_bytes;
    access.flat = index ? Expr() : flat;
    access.index = index ? std::move(*index) : std::vector<Expr>{};
  }
}

}  // namespace tenon::codegen
